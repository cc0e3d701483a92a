import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { verifyWebhook } from '@skerry/sdk/vault'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase, type TestDatabase } from '../engine.ts'
import { isQuick } from '../extent.ts'
import { type Issuer, startIssuer } from '../services/issuer.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../services/webhook-receiver.ts'
import { acceptInvites, invitePerson, newPerson, signUp, type Tenant } from '../tenant.ts'
import {
  consented,
  newCode,
  newExecutor,
  newPlatformKey,
  newProject,
  sealed,
  sent,
  slotOf,
  type Vault,
} from '../vault-scene.ts'
import { call, serverKey, type World } from '../world.ts'
import { type ServerProcess, startProcess } from './server-process.ts'

/** Rounds of kill -9. Set SKERRY_CRASH_ROUNDS for fewer during development. */
const rounds = Number(process.env.SKERRY_CRASH_ROUNDS ?? 30)
const authority = fileURLToPath(new URL('../tls/ca.pem', import.meta.url))

let dataDir: string
let database: TestDatabase
let issuer: Issuer
let receiver: WebhookReceiver
let server: ServerProcess
let settings: Record<string, string>
let tenant: Tenant
let vault: Vault
let secret: string
let params: { orgId: string; projectId: string; vaultWebhookId: string }
/** What the server acknowledged of each connection: the revision of its credential and the number of status changes. */
const acknowledged = new Map<string, { revision: number; moves: number }>()

/** Status and revision of a connection after each step in `work`. The first step is the capture. */
const after = [
  ['active', 1],
  ['active', 2],
  ['reauth_required', 2],
  ['reauth_required', 3],
  ['active', 3],
]

/** If it is set, it is called before each request is sent. */
let sending: ((step: 'submit' | 'write') => void) | null = null

/** Has the part of `World` that the helpers use, with a server in another process. */
const world = () =>
  ({ issuer, call: (endpoint: never, input: never) => call(server.url, [], endpoint, input) }) as unknown as World

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skerry-vault-crash-'))
  database = await newDatabase(dataDir)
  issuer = await startIssuer(() => new Date())
  receiver = await startWebhookReceiver()
  settings = {
    SKERRY_DATA_DIR: dataDir,
    SKERRY_SERVER_KEY: serverKey,
    SKERRY_OIDC_ISSUER: issuer.url,
    SKERRY_OIDC_AUDIENCE: issuer.audience,
    SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
    NODE_EXTRA_CA_CERTS: authority,
    ...database.settings,
  }
  server = await startProcess(settings)
  tenant = await signUp(world())
  await invitePerson(world(), tenant, 'admin@example.com', 'admin')
  // Signs in with a token of the issuer, because the test cannot read the sign-in settings of another process.
  const person = await newPerson(world(), 'admin@example.com', { claims: {} })
  await acceptInvites(world(), person)
  const projectId = (await newProject(world(), tenant)).id
  const platform = await newPlatformKey(world(), tenant, projectId, person)
  const executor = await newExecutor(world(), await newCode(world(), tenant, projectId, person))
  vault = { tenant, person, projectId, platform, executor }
  const body = { url: receiver.url }
  const made = await sent(world(), vaultPlatform.createWebhook, { as: platform.as, body })
  secret = made.secret
  params = { orgId: tenant.orgId, projectId, vaultWebhookId: made.endpoint.id }
})
afterAll(async () => {
  await server.stop()
  await receiver.close()
  await issuer.close()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

/** Connects accounts and refreshes them as an executor does, until the server is gone. */
async function work(): Promise<void> {
  try {
    for (;;) {
      const { as } = await consented(world(), vault)
      sending?.('submit')
      const { connectionId } = await sent(world(), vaultConnect.submit, { as, body: { slots: [slotOf(vault)] } })
      const done = { revision: 1, moves: 0 }
      acknowledged.set(connectionId, done)
      const by = { as: vault.executor.as, params: { vaultConnectionId: connectionId, slot: 'api_key' } }
      for (const body of [{ status: 'reauth_required', reason: 'refresh_rejected' }, { status: 'active' }]) {
        const writing = { expectedRevision: done.revision, ...sealed(vault) }
        sending?.('write')
        await sent(world(), vaultExecutor.writeBack, { ...by, body: writing })
        done.revision++
        await sent(world(), vaultExecutor.setStatus, { ...by, body })
        done.moves++
      }
    }
  } catch {
    // The server was killed, as intended. If it refused a request instead, `check` fails.
  }
}

const points = ['submit', 'write', 'received', 'accepted'] as const

/** Kills the server during a capture or a write-back, or once the receiver has got or accepted a webhook. */
async function killAtWork(round: number): Promise<void> {
  const point = points[round % points.length]
  const reached = Promise.withResolvers<void>()
  // A request takes some milliseconds. Each round kills the server a little later than the one before.
  sending = (step) => {
    if (step === point) setTimeout(reached.resolve, Math.floor(round / points.length) * 2)
  }
  receiver.answer = (response) => {
    if (point === 'received' || point === 'accepted') reached.resolve()
    if (point !== 'received') response.writeHead(204).end()
  }
  const working = Promise.all([work(), work()])
  await reached.promise
  await server.kill9()
  await working
  sending = null
  receiver.answer = null
}

const pending = async () => {
  const query = { status: 'pending' } as const
  return (await sent(world(), vaultWebhooks.deliveries, { as: tenant.admin.as, params, query })).deliveries.length
}

/** Lists connections whose events have not all arrived. Each acknowledged change has its own event. */
function untold(): string[] {
  const told = new Map<string, Set<string>>()
  for (const { body } of receiver.hooks) {
    const { id, data } = JSON.parse(body)
    const of = data.connection.id
    told.set(of, (told.get(of) ?? new Set()).add(id))
  }
  return [...acknowledged].filter(([id, { moves }]) => (told.get(id)?.size ?? 0) < 1 + moves).map(([id]) => id)
}

async function check(): Promise<void> {
  await expect.poll(untold, { timeout: 60_000 }).toEqual([])
  await expect.poll(pending, { timeout: 60_000 }).toBe(0)
  for (const [vaultConnectionId, { revision, moves }] of acknowledged) {
    const place = { as: vault.executor.as, params: { vaultConnectionId, slot: 'api_key' } }
    const { connection } = await sent(world(), vaultExecutor.connection, place)
    // The one unanswered request may have taken effect, but nothing after it.
    const steps = revision - 1 + moves
    expect(after.slice(steps, steps + 2)).toContainEqual([connection.status, connection.slots[0]?.revision])
    if (connection.status === 'active') {
      const { credential } = await sent(world(), vaultExecutor.release, place)
      expect(credential.revision).toBe(connection.slots[0]?.revision)
    }
  }
}

test.skipIf(isQuick)(
  `every connection is in a valid state, and each event is delivered, after ${rounds} rounds of kill -9`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      await killAtWork(round)
      server = await startProcess(settings)
      await check()
    }
    for (const { headers, body } of receiver.hooks)
      await verifyWebhook({ secret, headers, body, toleranceSeconds: 3600 })
    const ids = receiver.hooks.map(({ body }) => JSON.parse(body).id)
    expect(acknowledged.size).toBeGreaterThanOrEqual(rounds / 2)
    // Some events arrived twice, because the server was killed before it recorded their delivery.
    expect(new Set(ids).size).toBeLessThan(ids.length)
  },
  1_800_000,
)
