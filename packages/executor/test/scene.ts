import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { sealCredential } from '@skerry/crypto/vault'
import { afterAll } from 'vitest'
import { openTenant } from '../../server/test/scene.ts'
import { freePort } from '../../server/test/services/free-port.ts'
import { newMember, type Tenant } from '../../server/test/tenant.ts'
import { consented, newCode, newPlatformKey, newProject, sent } from '../../server/test/vault-scene.ts'
import type { World } from '../../server/test/world.ts'
import { loadConfig } from '../src/config/config.ts'
import type { VaultConfig } from '../src/config/define.ts'
import { main } from '../src/program.ts'
import { type Running, serve } from '../src/serve.ts'

export const token = 'token-of-the-executor-0123456789'

/** A project of a server, and the folder of an executor on a machine of its own. */
export interface Scene {
  world: World
  tenant: Tenant
  person: { as: string }
  projectId: string
  platform: { id: string; as: string }
  /** The address at which the executor is reached. */
  origin: string
  folder: string
  state: string
  /** Runs a command -> its exit code and its output. */
  command(...args: string[]): Promise<{ code: number; out: string }>
  code(): Promise<string>
  newSettings(config: Omit<VaultConfig, 'origin' | 'listen'>): Promise<void>
  start(): Promise<Running>
  /** The path of the current settings file. */
  settingsFile(): string
  /** The warnings of the executor for its operator. */
  warnings: string[]
  /** Ends the executor that was started last, and starts another one. */
  restart(): Promise<Running>
}

export async function openScene(): Promise<Scene> {
  const { world, tenant } = await openTenant()
  const person = await newMember(world, tenant, 'admin')
  const projectId = (await newProject(world, tenant)).id
  const platform = await newPlatformKey(world, tenant, projectId, person)
  const folder = await mkdtemp(join(tmpdir(), 'skerry-executor-'))
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const state = join(folder, 'state')
  const running: Running[] = []
  const warnings: string[] = []
  afterAll(async () => {
    await Promise.all(running.map((one) => one.close()))
    await rm(folder, { recursive: true, force: true })
  })
  let version = 0
  let current = ''
  const warn = (message: string) => void warnings.push(message)
  const start = async () => {
    const environment = { ...process.env, MAIL_CLIENT_SECRET: 'secret-of-the-client' }
    const settings = { stateFolder: state, token, environment, now: world.clock.now, warn }
    const one = await serve({ config: await loadConfig(current), ...settings })
    running.push(one)
    return one
  }
  return {
    ...{ world, tenant, person, projectId, platform, origin, folder, state, warnings },
    command: (name, ...args) => captured(() => main([name, '--config', current, '--state', state, ...args])),
    code: () => newCode(world, tenant, projectId, person),
    async newSettings(config) {
      // Node loads a module once for each address, so each version has a file of its own.
      current = join(folder, `vault.config.${++version}.mjs`)
      const all = { ...config, origin, listen: `127.0.0.1:${port}` }
      await writeFile(current, `export default ${JSON.stringify(all)}\n`)
    },
    settingsFile: () => current,
    start,
    async restart() {
      await running.pop()?.close()
      return start()
    },
  }
}

/** Captures what a command in this process writes. */
async function captured(run: () => Promise<number>): Promise<{ code: number; out: string }> {
  const parts: string[] = []
  const streams = [process.stdout, process.stderr]
  const writers = streams.map((stream) => stream.write)
  for (const stream of streams)
    stream.write = ((chunk: string | Uint8Array) => {
      parts.push(String(chunk))
      return true
    }) as typeof stream.write
  try {
    return { code: await run(), out: parts.join('') }
  } finally {
    for (const [at, stream] of streams.entries()) stream.write = writers[at]!
  }
}

export interface Answer {
  status: number
  body: { error?: { code: string; message: string }; [member: string]: unknown }
  headers: Headers
}

/** Sends a request to the executor as a browser on the Connect page does. */
export async function page(scene: Scene, path: string, body: object, from = scene.world.url): Promise<Answer> {
  const headers = { origin: from, 'content-type': 'application/json' }
  return read(await fetch(`${scene.origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
}

/** Sends a request to the executor as the product's backend does. */
export async function backend(scene: Scene, path: string, body: object, bearer = token): Promise<Answer> {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  return read(await fetch(`${scene.origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, body: isJson ? JSON.parse(text) : { text }, headers: response.headers }
}

/** Does what the Connect page does for an API key: encrypts it for the key that the session names. */
export async function connectKey({ world, ...scene }: Scene, providerId: string, key: string, userRef = 'user-1') {
  const { as, session } = await consented(world, scene, { providerId, userRef })
  if (!('keys' in session)) throw new Error('not a session to connect')
  const { projectId, connectionId, slots, keys } = session
  const [{ slot, revision }, { jwk, thumbprint }] = [slots[0]!, keys[0]!]
  const sealed = await sealCredential(key, { projectId, connectionId, providerId, slot, revision }, JSON.stringify(jwk))
  const body = { slots: [{ slot, revision, ...sealed, keyThumbprint: thumbprint }] }
  return (await sent(world, vaultConnect.submit, { as, body })).connectionId
}

export async function connectionOf({ world, platform }: Scene, vaultConnectionId: string) {
  const params = { vaultConnectionId }
  return (await sent(world, vaultPlatform.connection, { as: platform.as, params })).connection
}
