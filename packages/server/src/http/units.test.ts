import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { get, post } from '@skerry/contract/endpoint'
import { Ok } from '@skerry/contract/schema'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTenant } from '../../test/scene.ts'
import { auditRows, newEntries } from '../../test/state.ts'
import { newToken } from '../../test/tenant.ts'
import { checkNoTransaction } from '../db/transaction-guard.ts'
import { admin } from '../features/orgs/scope.ts'
import { openExternalClient } from '../features/sign-in/external-client.ts'
import { openOidc } from '../identity/oidc.ts'
import { fail, refuseAndCommit } from '../kernel/errors.ts'
import { type In, route } from './route.ts'
import { serve } from './serve.ts'

// Routes that exist only in this test, on the real server: they check what a unit of work guarantees to authors of
// routes.

const audits = ['org.updated'] as const
const paths = {
  manual: post('/v1/orgs/:orgId/manual', { summary: 'calls out', unit: 'manual', audits, responses: { 200: Ok } }),
  transaction: get('/v1/orgs/:orgId/made', {
    summary: 'makes something on first use',
    unit: 'transaction',
    audits,
    responses: { 200: Ok },
  }),
}

type Manual = In<typeof paths.manual>
type Transaction = In<typeof paths.transaction>

const { world, tenant } = await openTenant({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
let manual: (input: Manual) => Promise<unknown>
let transaction: (input: Transaction) => Promise<unknown>
let app: FastifyInstance
beforeAll(async () => {
  const routes = [
    route(paths.manual, admin, async (input) => {
      const refusal = await manual(input)
      return (refusal ?? { ok: true }) as { ok: true }
    }),
    route(paths.transaction, admin, async (input) => {
      const refusal = await transaction(input)
      return (refusal ?? { ok: true }) as { ok: true }
    }),
  ]
  app = serve(world.server.context, routes, [])
})
beforeEach(() => {
  manual = async () => undefined
  transaction = async () => undefined
})
afterAll(() => app.close())

const rename = ({ db }: Pick<Transaction, 'db'>, name: string) =>
  db.rows('update organizations set name = $2 where id = $1', [tenant.orgId, name])
const nameNow = async () =>
  (await world.server.context.db.row<{ name: string }>('select name from organizations where id = $1', [tenant.orgId]))
    ?.name

async function call(path: keyof typeof paths, as = tenant.admin.as) {
  const { method } = paths[path]
  const url = paths[path].path.replace(':orgId', tenant.orgId)
  const answer = await app.inject({ method, url, headers: { authorization: as } })
  return { status: answer.statusCode, body: answer.json() }
}

describe('a manual unit', () => {
  test('commits each of its transactions with its audit entries', async () => {
    manual = async ({ transaction }) => {
      await transaction(async ({ db, audit }) => {
        await rename({ db }, 'first')
        audit('org.updated', tenant.orgId, { step: 1 })
      })
      checkNoTransaction()
      await transaction(async ({ db, audit }) => {
        await rename({ db }, 'second')
        audit('org.updated', tenant.orgId, { step: 2 })
        throw fail('conflict', 'target: gone')
      })
    }
    const entries = await newEntries(world, async () => {
      expect(await call('manual')).toMatchObject({ status: 409, body: { error: { message: 'target: gone' } } })
    })
    expect(entries.map(({ metadata }) => metadata)).toEqual([{ step: 1 }])
    expect(await nameNow()).toBe('first')
  })

  test('cannot call other servers while one of its transactions is open', async () => {
    manual = ({ transaction }) => transaction(async () => checkNoTransaction())
    expect((await call('manual')).status).toBe(500)
    const { outbound } = world.server.context
    let reached = 0
    const target = createServer(() => reached++).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const { port } = target.address() as AddressInfo
    const reach = () =>
      outbound.connect({ host: '127.0.0.1', port, timeoutMs: 30_000 }).then((socket) => socket.destroy())
    manual = ({ transaction }) => transaction(reach)
    expect([(await call('manual')).status, reached]).toEqual([500, 0])
    manual = ({ transaction }) =>
      transaction(async () => {})
        .then(reach)
        .then(() => undefined)
    expect((await call('manual')).status).toBe(200)
    target.close()
  })

  // Only the operator configures these addresses, so these calls do not go through context.outbound.
  const issuer = { issuer: 'https://issuer.invalid', audience: 'skerry', clientId: 'skerry', clientSecret: null }
  const begun = { state: 'state', nonce: 'nonce', codeVerifier: 'verifier' }
  const neverCalled = () => Promise.reject(new Error('the issuer was called'))
  test.each<[string, () => Promise<unknown>]>([
    ['send a mail', () => world.server.context.mailer.send({ to: 'a@example.com', subject: 'subject', text: 'text' })],
    ['fetch the keys of an issuer', () => openOidc(issuer, world.clock.now, neverCalled).verify('e30.e30.e30')],
    ['send a browser to an issuer', () => openExternalClient(issuer).ask('https://skerry.invalid', false)],
    ['redeem the code of an issuer', () => openExternalClient(issuer).redeem(new URL('https://skerry.invalid'), begun)],
  ])('cannot %s while one of its transactions is open', async (_, reach) => {
    let refused: unknown
    manual = ({ transaction }) =>
      transaction(async () => {
        refused = await reach().catch((error) => error)
      })
    expect((await call('manual')).status).toBe(200)
    expect(String(refused)).toContain('Nothing outside is called while a transaction is open')
  })

  test('looks its caller up in the database before it acts, even if the caller is cached', async () => {
    const token = await newToken(world, tenant, { role: 'admin' })
    let calls = 0
    manual = async () => void calls++
    transaction = async () => undefined
    expect((await call('transaction', token.as)).status).toBe(200)
    // Revokes the token like another server would: this server still has it in memory.
    const now = new Date().toISOString()
    await world.server.context.db.rows('update service_tokens set revoked_at = $2 where id = $1', [token.id, now])
    expect((await call('manual', token.as)).status).toBe(401)
    expect(calls).toBe(0)
  })

  test('must list its audit actions like any other unit', async () => {
    manual = ({ transaction }) => transaction(async ({ audit }) => audit('org.created' as never, tenant.orgId))
    expect((await call('manual')).status).toBe(500)
  })
})

describe('a GET in a transaction that writes', () => {
  test('writes in one transaction, with its audit entry', async () => {
    transaction = async ({ db, audit }) => {
      await rename({ db }, 'made')
      audit('org.updated', tenant.orgId)
    }
    const entries = await newEntries(world, async () => {
      expect((await call('transaction')).status).toBe(200)
    })
    expect([entries.length, await nameNow()]).toEqual([1, 'made'])
  })

  test('is refused for a token that was revoked meanwhile, and changes nothing', async () => {
    const token = await newToken(world, tenant, { role: 'admin' })
    transaction = async ({ db }) => rename({ db }, 'by a revoked token').then(() => undefined)
    await call('transaction', token.as)
    await rename({ db: world.server.context.db as never }, 'before')
    const now = new Date().toISOString()
    await world.server.context.db.rows('update service_tokens set revoked_at = $2 where id = $1', [token.id, now])
    expect((await call('transaction', token.as)).status).toBe(401)
    expect(await nameNow()).toBe('before')
  })
})

describe('a refusal', () => {
  test('rolls the changes back if it is thrown, and commits them if it is returned', async () => {
    transaction = async ({ db, audit }) => {
      await rename({ db }, 'thrown')
      audit('org.updated', tenant.orgId)
      throw fail('forbidden', 'thrown')
    }
    const before = (await auditRows(world)).length
    const name = await nameNow()
    expect(await call('transaction')).toMatchObject({ status: 403, body: { error: { message: 'thrown' } } })
    expect([await nameNow(), (await auditRows(world)).length]).toEqual([name, before])
    transaction = async ({ db, audit }) => {
      await rename({ db }, 'returned')
      audit('org.updated', tenant.orgId)
      return refuseAndCommit('forbidden', 'returned')
    }
    expect(await call('transaction')).toMatchObject({ status: 403, body: { error: { message: 'returned' } } })
    expect([await nameNow(), (await auditRows(world)).length]).toEqual(['returned', before + 1])
  })
})

test('the last use of a token is recorded, although its first request after a pause writes', async () => {
  const token = await newToken(world, tenant, { role: 'admin' })
  await call('transaction', token.as)
  world.clock.advance(120)
  await call('transaction', token.as)
  const uses = () =>
    world.server.context.db.row<{ lastUsedAt: string }>(
      'select last_used_at from service_token_uses where token_id = $1',
      [token.id],
    )
  const now = world.clock.now().getTime()
  await expect.poll(async () => now - Date.parse((await uses())?.lastUsedAt ?? '2000-01-01')).toBeLessThan(60_000)
})
