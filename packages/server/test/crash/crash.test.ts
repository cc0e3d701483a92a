import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { audit } from '@skerry/contract/audit/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ciphertext } from '../blobs.ts'
import { engine } from '../engine.ts'
import { isQuick } from '../extent.ts'
import { type PostgresService, startPostgres } from '../services/postgres.ts'
import { newApp, newEnv, signUp, type Tenant, written } from '../tenant.ts'
import { call, type World } from '../world.ts'
import { type ServerProcess, startProcess } from './server-process.ts'

/** Rounds of kill -9. Set SKERRY_CRASH_ROUNDS for fewer during development. */
const rounds = Number(process.env.SKERRY_CRASH_ROUNDS ?? (isQuick ? 6 : 50))
const writers = 8
const names = Array.from({ length: writers }, (_, index) => `SECRET_${index}`)

let dataDir: string
let postgres: PostgresService | null = null
let server: ServerProcess
let tenant: Tenant
let envId: string
let settings: Record<string, string>
/** Acknowledged writes: the ciphertext by name and version. */
const acknowledged = new Map<string, string>()
/** Ciphertexts of unanswered writes. Each is stored completely or not at all. */
const unanswered = new Set<string>()

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skerry-crash-'))
  settings = { SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'info' }
  if (engine() === 'postgres') {
    postgres = await startPostgres({ fsync: true })
    settings.SKERRY_DATABASE_URL = (await postgres?.createDatabase('crash')) as string
  }
  server = await startProcess(settings)
  tenant = await signUp(world())
  envId = (await newEnv(world(), tenant, (await newApp(world(), tenant)).id)).id
})
afterAll(async () => {
  await server.stop()
  await postgres?.dispose()
  await rm(dataDir, { recursive: true, force: true })
})

/** Has the part of `World` that the tenant helpers use, with a server in another process. */
const world = () =>
  ({ call: (endpoint: never, input: never) => call(server.url, [], endpoint, input) }) as unknown as World

/** Writes until the server is gone, and records the acknowledged writes. */
async function write(name: string): Promise<void> {
  for (;;) {
    const sent = ciphertext(200)
    unanswered.add(sent)
    try {
      const params = { orgId: tenant.orgId, envId, name }
      const { status, body } = await call(server.url, [], secrets.put, {
        as: tenant.admin.as,
        params,
        body: { ciphertext: sent },
      })
      if (status >= 300) continue
      acknowledged.set(`${name} ${written(body).secret.version}`, sent)
      unanswered.delete(sent)
    } catch {
      return
    }
  }
}

test(
  `no acknowledged write is lost and no write is stored in part after ${rounds} rounds of kill -9 under load`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      const load = Promise.all(names.map(write))
      const before = acknowledged.size
      // Each round kills the server at another point of the work, but never before the first write.
      while (acknowledged.size < before + 1 + round) await new Promise((tick) => setTimeout(tick, 5))
      await server.kill9()
      await load
      // Every other round also kills PostgreSQL, without a clean shutdown.
      if (postgres && round % 2 === 1) {
        await postgres.kill9()
        await postgres.restart()
      }
      server = await startProcess(settings)
      await check()
    }
    expect(acknowledged.size).toBeGreaterThan(rounds)
  },
  rounds * 30_000,
)

/** Asserts that histories have no gap, each acknowledged ciphertext at its version, and an audit entry per version. */
async function check(): Promise<void> {
  for (const name of names) {
    const params = { orgId: tenant.orgId, envId, name }
    const history = new Map<number, string>()
    let cursor: string | undefined
    do {
      const query = { limit: 200, ...(cursor === undefined ? {} : { cursor }) }
      const { status, body } = await call(server.url, [], secrets.versions, { as: tenant.admin.as, params, query })
      if (status === 404) break
      for (const { version, ciphertext: stored } of body.versions) history.set(version, stored)
      cursor = body.nextCursor ?? undefined
    } while (cursor !== undefined)
    const written = [...history.keys()].sort((a, b) => a - b)
    expect(written).toEqual(Array.from({ length: written.length }, (_, index) => index + 1))
    for (const [version, stored] of history) {
      const known = acknowledged.get(`${name} ${version}`)
      if (known === undefined) expect(unanswered).toContain(stored)
      else expect(stored).toBe(known)
    }
    for (const key of acknowledged.keys())
      if (key.startsWith(`${name} `)) expect(history.has(Number(key.split(' ')[1]))).toBe(true)
    expect(await auditedVersions(name)).toEqual(written)
  }
}

async function auditedVersions(name: string): Promise<number[]> {
  const versions: number[] = []
  let cursor: string | undefined
  do {
    const query = { action: 'secret.written', limit: 200, ...(cursor === undefined ? {} : { cursor }) }
    const params = { orgId: tenant.orgId }
    const { body } = await call(server.url, [], audit.list, { as: tenant.admin.as, params, query })
    for (const { metadata } of body.entries) if (metadata.name === name) versions.push(metadata.version as number)
    cursor = body.nextCursor ?? undefined
  } while (cursor !== undefined)
  return versions.sort((a, b) => a - b)
}

test('a server that gets SIGTERM exits with 0', async () => {
  expect(await server.stop()).toBe(0)
  server = await startProcess(settings)
})
