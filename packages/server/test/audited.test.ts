import { apps } from '@skerry/contract/apps'
import { type AuditAction, auditActions } from '@skerry/contract/audit-actions'
import { billing } from '@skerry/contract/billing'
import type { Endpoint } from '@skerry/contract/endpoint'
import { listEndpoints } from '@skerry/contract/endpoints'
import { branches } from '@skerry/contract/envs'
import { leases } from '@skerry/contract/leases'
import { logSink } from '@skerry/contract/log-sink'
import { me } from '@skerry/contract/me'
import { recovery } from '@skerry/contract/recovery'
import { resolve } from '@skerry/contract/resolve'
import { rotation } from '@skerry/contract/rotation'
import { secrets } from '@skerry/contract/secrets'
import { tokens } from '@skerry/contract/tokens'
import { vaultExecutor } from '@skerry/contract/vault-executor'
import { newToken as wholeToken } from '@skerry/crypto/token'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seal } from '../src/features/audit-proof/seal.ts'
import { refresh } from '../src/features/billing/jobs.ts'
import { expireBranches } from '../src/features/branches/jobs.ts'
import { recordTrips } from '../src/features/honey-tokens/trips.ts'
import { endDue } from '../src/features/leases/ending.ts'
import { shipAll } from '../src/features/log-sink/jobs.ts'
import { expire } from '../src/features/recovery/jobs.ts'
import { runRotation } from '../src/features/rotation/run.ts'
import { sha256 } from '../src/kernel/context.ts'
import { system } from '../src/kernel/unit.ts'
import { register } from '../src/operator/plan.ts'
import { bearerSecret, wrappedKey } from './blobs.ts'
import { buildPlace, type Place } from './callers.ts'
import { newSshLease, sshLease, wrappedForBroker } from './lease-steps.ts'
import { restoreHere } from './moved.ts'
import { buildWalk, type Walk } from './mutations.ts'
import { recoveryBody } from './recovery-steps.ts'
import { generatedRotation, newKeyedEnv, newRotation } from './rotation-steps.ts'
import { isOfCustodian, isOfPerson, isOfUserAdmin } from './samples.ts'
import { type AppPlatform, startAppPlatform } from './services/app-platform.ts'
import { startCollector } from './services/collector.ts'
import { type Stripe, startStripe } from './services/stripe.ts'
import { type AuditRow, auditRows, newEntries, stateOf, stopSchedules } from './state.ts'
import type { Step } from './step.ts'
import { invitePerson, newDecoy, newMember, newPerson, newToken, signUp } from './tenant.ts'
import { bearerFor, newSurfaces } from './vault-scene.ts'
import { builtIn, openWorld, type World } from './world.ts'

const userAgent = 'audited/1.0 (a suite)'

let platform: AppPlatform
let stripe: Stripe
let world: World
let walk: Walk
let place: Place
/** Every string of every body that the walk sent. */
const sent: string[] = []

beforeAll(async () => {
  platform = await startAppPlatform()
  stripe = await startStripe()
  const origins = [platform, stripe].map(({ settings }) => JSON.parse(settings.SKERRY_PROVIDER_ORIGINS ?? '{}'))
  const both = { ...platform.settings, ...stripe.settings }
  world = await openWorld({
    ...builtIn,
    ...both,
    SKERRY_PROVIDER_ORIGINS: JSON.stringify(Object.assign({}, ...origins)),
  })
  await stopSchedules(world)
  walk = await buildWalk(world, platform)
  place = await buildPlace(world)
})
afterAll(async () => {
  await world.close()
  await platform.stop()
  await stripe.close()
})

const titleOf = ({ endpoint, note }: Pick<Step, 'endpoint' | 'note'>) =>
  `${endpoint.method} ${endpoint.path}${note ? ` (${note})` : ''}`

async function send({ endpoint, as, params, query, body, headers }: Step, more: Record<string, unknown> = {}) {
  const input = { ...body?.(), ...more }
  // Which key a credential is wrapped to is public, and the trail names the keys of an executor.
  const { keyThumbprint: _, ...kept } = input
  sent.push(...Object.values(kept).filter((value) => typeof value === 'string'))
  return world.call(endpoint, {
    ...(as ? { as: as() } : {}),
    ...(params ? { params: params() } : {}),
    ...(query ? { query: query() } : {}),
    ...(body || Object.keys(more).length > 0 ? { body: input } : {}),
    headers: { ...headers, 'user-agent': userAgent },
  })
}

type Answer = Awaited<ReturnType<typeof send>>

/** Sends the step, refused first: that must leave nothing. Then in earnest, and compares what is new in the trail. */
async function check(step: Step): Promise<AuditAction[]> {
  const refused = await newEntries(world, async () => {
    expect((await send(step, { probe: 1 })).error?.message).toBe('body: unknown field "probe"')
  })
  expect(refused, titleOf(step)).toEqual([])
  let answer: Answer | undefined
  const entries = await newEntries(world, async () => {
    const sending = send(step)
    await step.meanwhile?.()
    answer = await sending
  })
  expect(answer?.status, `${titleOf(step)}: ${answer?.error?.message}`).toBeLessThan(300)
  const expected = step.entries(answer?.body as never)
  expect(expected.length).toBeGreaterThan(0)
  const common = { ipAddress: '127.0.0.1', userAgent, requestId: answer?.headers.get('x-request-id') }
  expect(entries.map(facts).sort(byAction), titleOf(step)).toEqual(
    expected
      .map(({ action, resourceId, actor, orgId = walk.tenant.orgId }) => ({
        ...common,
        orgId,
        action,
        resourceType: auditActions[action].about,
        resourceId,
        actorType: actor.type,
        actorId: actor.id,
      }))
      .sort(byAction),
  )
  return expected.map((entry) => entry.action)
}

const facts = ({ id: _id, metadata: _metadata, createdAt: _at, ...rest }: AuditRow & { createdAt?: string }) => rest
const byAction = (a: Placed, b: Placed) => (placeOf(a) < placeOf(b) ? -1 : 1)
interface Placed {
  action: string
  orgId: string | null
  resourceId: string | null
}
const placeOf = ({ action, orgId, resourceId }: Placed) => `${action} ${orgId} ${resourceId}`

/** What a walk through a world of many people cannot do, and where it is shown. */
const elsewhere = new Set([
  'POST /v1/sign-in/set-up', // needs a server without people: features/sign-in/sign-in.test.ts
  'POST /v1/orgs/:orgId/leases/:leaseId/forget', // needs a lease that a day of tries could not end: features/leases/ending.test.ts
  'POST /v1/orgs/:orgId/rotation', // names ids that no answer holds: below
  'POST /v1/orgs/:orgId/rotation/:rotationId/rotate', // below
  'DELETE /v1/orgs/:orgId/rotation/:rotationId', // below
  'POST /v1/sign-in/refresh', // audits only what it refuses: features/sign-in/sessions.test.ts
])
/** Of the other mutations. */
const actionsElsewhere: readonly AuditAction[] = ['token.registered'] // needs an organization that was restored: below

describe('a mutation', () => {
  test('leaves exactly the entries that the contract names, with who, what, where and the request’s id', async () => {
    const written = new Map<string, Set<string>>()
    for (const step of walk.steps) {
      const key = titleOf({ endpoint: step.endpoint })
      const actions = written.get(key) ?? new Set()
      for (const action of await check(step)) actions.add(action)
      written.set(key, actions)
    }
    const mutations = listEndpoints().filter(({ endpoint }) => endpoint.unit !== 'read' && !endpoint.unaudited)
    const walked = mutations.filter(({ endpoint }) => !elsewhere.has(titleOf({ endpoint })))
    const actionsOf = ({ audits }: Endpoint) => audits.filter((action) => !actionsElsewhere.includes(action)).sort()
    const declared = walked.map(({ endpoint }) => [titleOf({ endpoint }), actionsOf(endpoint)])
    expect(Object.fromEntries([...written].map(([key, actions]) => [key, [...actions].sort()]))).toEqual(
      Object.fromEntries(declared),
    )
  }, 120_000)

  test('is left out of the trail only for a reason that stands in the contract', () => {
    const mutations = listEndpoints().filter(({ endpoint }) => endpoint.unit !== 'read')
    for (const { endpoint } of mutations)
      expect([titleOf({ endpoint }), Boolean(endpoint.unaudited)]).toEqual([
        titleOf({ endpoint }),
        endpoint.audits.length === 0,
      ])
  })

  test('that changes nothing, as a second revocation, leaves no entry', async () => {
    const target = await newToken(world, place.tenant)
    const params = { orgId: place.tenant.orgId, tokenId: target.id }
    const revoke = () => world.call(tokens.revoke, { as: place.tenant.admin.as, params })
    expect(await newEntries(world, revoke)).toHaveLength(1)
    expect(await newEntries(world, revoke)).toEqual([])
  })

  test('that is refused late, by a conflict, leaves no entry', async () => {
    const { orgId, admin } = place.tenant
    const create = () =>
      world.call(apps.create, { as: admin.as, params: { orgId }, body: { name: 'A', slug: 'twice' } })
    expect((await create()).status).toBe(201)
    const entries = await newEntries(world, async () => expect((await create()).status).toBe(409))
    expect(entries).toEqual([])
  })

  test('whose entry cannot be written does not happen', async () => {
    const { db } = world.server.context
    await db.script(`create function refuse_entry() returns trigger language plpgsql as $$
      begin if new.action = 'app.created' then raise exception 'no room'; end if; return new; end $$;
      create trigger refuse_entry before insert on audit_entries for each row execute function refuse_entry()`)
    const before = await stateOf(world)
    const { orgId, admin } = place.tenant
    const body = { name: 'Unseen', slug: 'unseen' }
    const response = await fetch(`${world.url}/v1/orgs/${orgId}/apps`, {
      method: 'POST',
      headers: { authorization: admin.as, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(500)
    await db.script('drop trigger refuse_entry on audit_entries; drop function refuse_entry()')
    expect(await stateOf(world)).toEqual(before)
    expect((await world.call(apps.create, { as: admin.as, params: { orgId }, body })).status).toBe(201)
  })
})

describe('what happens without a mutation of the contract', () => {
  test('a first sign-in records the person, and from where, and joins nothing', async () => {
    const external = await openWorld()
    const email = 'joins@example.com'
    await invitePerson(external, await signUp(external), email)
    const as = `Bearer ${await external.issuer.token({ sub: 'sub-joins', email, email_verified: true })}`
    let answer: Awaited<ReturnType<typeof signIn>> | undefined
    const signIn = () => external.call(me.get, { as, headers: { 'user-agent': userAgent } })
    const entries = await newEntries(external, async () => {
      answer = await signIn()
    })
    const id = answer?.body.principal.id
    const common = {
      actorType: 'user',
      actorId: id,
      resourceType: 'user',
      resourceId: id,
      ipAddress: '127.0.0.1',
      userAgent,
      requestId: answer?.headers.get('x-request-id'),
    }
    expect(entries.sort(byAction)).toMatchObject([
      { ...common, action: 'user.created', orgId: null, metadata: { issuer: external.issuer.url } },
    ])
    expect(await newEntries(external, signIn)).toEqual([])
    await external.close()
  })

  test('a branch that ends by itself is recorded, with nobody as the actor', async () => {
    const { orgId, admin } = place.tenant
    const params = { orgId, envId: place.params.envId as string }
    const body = { slug: 'short', ttlSeconds: 60, wrappedDek: wrappedKey() }
    const branch = await world.call(branches.create, { as: admin.as, params, body })
    world.clock.advance(61)
    const entries = await newEntries(world, () => expireBranches(world.server.context))
    const nobody = { actorType: 'system', actorId: null, ipAddress: null, userAgent: null, requestId: null }
    expect(entries).toMatchObject([{ ...nobody, action: 'branch.expired', resourceId: branch.body.branch.id, orgId }])
  })

  test('an organization that is restored is recorded, and a token of it that is registered again', async () => {
    const moved = await signUp(world)
    const admin = await newMember(world, moved, 'admin')
    const { id } = await newToken(world, moved)
    const params = { orgId: moved.orgId }
    const { body } = await world.call(tokens.list, { as: admin.as, params })
    const publicKeyJwk = body.tokens.find((one) => one.id === id)?.publicKeyJwk as string
    const entries = await newEntries(world, () => restoreHere(world, moved))
    expect(entries.filter(({ action }) => action === 'org.restored')).toMatchObject([
      { actorType: 'system', actorId: null, orgId: moved.orgId, resourceId: moved.orgId },
    ])
    const again = { name: 'again', tokenId: id, tokenHash: sha256(`${id}_${bearerSecret()}`), publicKeyJwk }
    const registered = await newEntries(world, () => world.call(tokens.create, { as: admin.as, params, body: again }))
    expect(registered).toMatchObject([{ action: 'token.registered', actorId: admin.id, resourceId: id }])
  })

  test('a decoy that is tried is recorded, with from where and nobody as the actor', async () => {
    const decoy = await newDecoy(world, place.tenant)
    const entries = await newEntries(world, async () => {
      await world.call(me.get, { as: decoy.as, headers: { 'user-agent': userAgent } })
      await recordTrips(world.server.context)
    })
    const nobody = { actorType: 'system', actorId: null, ipAddress: '127.0.0.1', userAgent }
    const what = { action: 'honey_token.tripped', resourceType: 'honey_token', resourceId: decoy.id }
    expect(entries).toMatchObject([{ ...nobody, ...what, orgId: place.tenant.orgId }])
  })

  test('a token that is sent whole is recorded, in the same way', async () => {
    const { orgId, admin } = place.tenant
    const { token, bearer: _, privateKey: _key, format: _format, ...ids } = await wholeToken('skerry')
    await world.call(tokens.create, { as: admin.as, params: { orgId }, body: { name: 'Whole', ...ids } })
    const entries = await newEntries(world, async () => {
      await world.call(me.get, { as: `Bearer ${token}`, headers: { 'user-agent': userAgent } })
      await recordTrips(world.server.context)
    })
    const nobody = { actorType: 'system', actorId: null, ipAddress: '127.0.0.1', userAgent }
    const what = { action: 'token.exposed', resourceType: 'service_token', resourceId: ids.tokenId }
    expect(entries).toMatchObject([{ ...nobody, ...what, orgId }])
  })

  test('a lease that fails, expires or cannot be removed is recorded; the last can be forgotten', async () => {
    const { orgId, admin } = place.tenant
    const { db } = world.server.context
    const targetId = place.params.targetId as string
    const actionsOf = async (work: () => Promise<unknown>) =>
      (await newEntries(world, work)).map(({ action, actorType }) => [action, actorType])
    const failed = sshLease(targetId, { publicKey: 'ssh-ed25519 AAAA' })
    expect(await actionsOf(() => world.call(leases.create, { as: admin.as, params: { orgId }, body: failed }))).toEqual(
      [['lease.failed', 'service_token']],
    )

    const { lease } = await newSshLease(world, place.tenant, targetId)
    await db.rows('update leases set expires_at = created_at where id = $1', [lease.id])
    expect(await actionsOf(() => endDue(world.server.context, orgId, targetId))).toEqual([['lease.expired', 'system']])

    // A database that no operator has allowed to be reached, and a day of tries behind it.
    const wrapped = await wrappedForBroker(world, place.tenant, 'redis://admin:secret@127.0.0.1:1/0')
    const config = { provider: 'redis', executor: 'in_broker', connection: { host: '127.0.0.1', port: 1, db: 0 } }
    await db.rows('update lease_targets set provider = $2, config = $3, wrapped_admin_secret = $4 where id = $1', [
      targetId,
      'redis',
      JSON.stringify({ ...config, accessLevel: 'readonly' }),
      wrapped,
    ])
    await db.rows(
      `update leases set provider = 'redis', status = 'revoking', ends_as = 'revoked', next_try_at = created_at,
              ending_since = created_at - interval '2 days' where id = $1`,
      [lease.id],
    )
    expect(await actionsOf(() => endDue(world.server.context, orgId, targetId))).toEqual([['lease.orphaned', 'system']])
    const params = { orgId, leaseId: lease.id }
    expect(await actionsOf(() => world.call(leases.forget, { as: admin.as, params }))).toEqual([
      ['lease.forgotten', 'service_token'],
    ])
  })

  test('a recovery request that runs out is recorded once, by the system', async () => {
    const { db } = world.server.context
    const id = place.params.recoveryRequestId
    await db.rows('update recovery_requests set expires_at = created_at where id = $1', [id])
    const what = { action: 'recovery_request.expired', resourceId: id, actorType: 'system' }
    expect(await newEntries(world, () => expire(world.server.context))).toMatchObject([what])
    expect(await newEntries(world, () => expire(world.server.context))).toEqual([])
  })

  test('what a payment provider tells and what an operator gives is recorded, by the system', async () => {
    const { orgId, admin } = place.tenant
    const { config, db } = world.server.context
    await world.call(billing.checkout, { as: admin.as, params: { orgId }, body: { family: 'platform' } })
    const id = stripe.pay(stripe.checkouts.at(-1)?.customer as string, 'price_team')
    const actionsOf = async (work: () => Promise<unknown>) =>
      (await newEntries(world, work)).map(({ action, actorType }) => [action, actorType])
    const refreshed = () => refresh.run(world.server.context, { subscriptionId: id } as never)
    expect(await actionsOf(refreshed)).toEqual([['billing.subscription_changed', 'system']])
    expect(await actionsOf(refreshed)).toEqual([])
    const operate = (...args: string[]) => {
      const command = new Command()
      register(command, (work) => work({ config, db, print: () => {} }))
      return command.parseAsync(args, { from: 'user' })
    }
    const by = (action: string) => [[action, 'system']]
    expect(await actionsOf(() => operate('assign', orgId, 'vault', 'pro'))).toEqual(by('billing.plan_assigned'))
    const reason = ['--reason', 'agreed']
    expect(await actionsOf(() => operate('set', orgId, 'apps', '99', ...reason))).toEqual(by('billing.override_set'))
    expect(await actionsOf(() => operate('unset', orgId, 'apps'))).toEqual(by('billing.override_removed'))
  })

  test('a rotation is recorded with whose doing it was: the policy an admin’s, the value the rotator’s', async () => {
    const { tenant } = place
    const env = await newKeyedEnv(world, tenant)
    const { orgId, admin } = tenant
    const entriesOf = async (work: () => Promise<unknown>) =>
      (await newEntries(world, work)).map(({ action, actorType, actorId }) => [action, actorType, actorId]).sort()
    const [byAdmin, byRotator] = [
      ['service_token', admin.id],
      ['rotator', orgId],
    ]
    const body = await generatedRotation(world, tenant, env)
    let rotationId = ''
    const create = async (more: object) => {
      rotationId = (await newRotation(world, tenant, { ...body, ...more })).rotation.id
    }
    expect(await entriesOf(() => create({}))).toEqual([
      ['key.granted', ...byAdmin],
      ['rotation.created', ...byAdmin],
    ])
    expect(await entriesOf(() => create({ rotateNow: true }))).toEqual([
      ['rotation.completed', ...byAdmin],
      ['rotation.updated', ...byAdmin],
      ['secret.written', ...byRotator],
    ])
    const params = { orgId, rotationId }
    expect(await entriesOf(() => world.call(rotation.rotate, { as: admin.as, params }))).toEqual([
      ['rotation.completed', ...byAdmin],
      ['secret.written', ...byRotator],
    ])
    world.clock.advance(4000)
    const due = () => runRotation(world.server.context, { orgId, id: rotationId }, { origin: system, onlyDue: true })
    expect(await entriesOf(due)).toEqual([
      ['rotation.completed', ...byRotator],
      ['secret.written', ...byRotator],
    ])
    await world.call(secrets.delete, { as: admin.as, params: { orgId, envId: env.envId, name: 'ROTATED' } })
    expect(await entriesOf(() => world.call(rotation.rotate, { as: admin.as, params }))).toEqual([
      ['rotation.failed', ...byAdmin],
    ])
    expect(await entriesOf(() => world.call(rotation.delete, { as: admin.as, params }))).toEqual([
      ['key.revoked', ...byAdmin],
      ['rotation.deleted', ...byAdmin],
    ])
  })

  test('a denied resolve is recorded once, with who was denied and where', async () => {
    const stranger = await newMember(world, place.tenant)
    const envId = place.params.envId as string
    const ask = () =>
      world.call(resolve.get, { as: stranger.as, query: { env: envId }, headers: { 'user-agent': userAgent } })
    let requestId: string | null = null
    const entries = await newEntries(world, async () => {
      requestId = (await ask()).headers.get('x-request-id')
    })
    const who = { actorType: 'user', actorId: stranger.id, ipAddress: '127.0.0.1', userAgent, requestId }
    const what = { action: 'env.resolve_denied', resourceType: 'environment', resourceId: envId }
    expect(entries).toMatchObject([{ ...who, ...what, orgId: place.tenant.orgId }])
  })

  test('a credential that is not released is recorded, with the executor and the reason', async () => {
    const { executor, params } = place.vault
    const as = executor.as
    const entries = await newEntries(world, () =>
      world.call(vaultExecutor.release, { as, params: { ...params, slot: 'session' } }),
    )
    const what = { action: 'vault.credential.release_denied', resourceId: params.vaultConnectionId }
    expect(entries).toMatchObject([{ ...what, actorType: 'vault_executor', actorId: executor.id }])
  })

  test('a log sink whose collector refuses is disabled, which is recorded', async () => {
    const { orgId, admin } = place.tenant
    const collector = await startCollector()
    collector.answer = (response) => {
      response.writeHead(401).end()
      return false
    }
    const params = { orgId }
    await world.call(logSink.set, { as: admin.as, params, body: { endpoint: collector.url } })
    await seal(world.server.context)
    const entries = await newEntries(world, () => shipAll(world.server.context, orgId))
    expect(entries).toMatchObject([{ action: 'log_sink.disabled', actorType: 'system', resourceId: orgId }])
    await world.call(logSink.delete, { as: admin.as, params })
    await collector.close()
  })

  test('every other read leaves no entry', async () => {
    const { tenant, params } = place
    const person = await newPerson(world, 'reader@example.com')
    const userAdmin = await newMember(world, tenant, 'admin')
    const custodian = await newMember(world, tenant)
    const shared = recoveryBody([custodian, userAdmin], 2)
    await world.call(recovery.rotate, { as: tenant.admin.as, params, body: shared })
    await seal(world.server.context)
    const [sealed] = await auditRows(world).then((rows) => rows.filter(({ orgId }) => orgId === tenant.orgId))
    // Claims of the place’s own links have expired by now.
    const vault = await newSurfaces(world, tenant)
    const queries: Record<string, Record<string, unknown>> = {
      '/v1/resolve': { env: params.envId },
      '/v1/orgs/:orgId/audit/proof/inclusion': { entry: sealed?.id },
      '/v1/orgs/:orgId/audit/proof/consistency': { from: 1 },
    }
    for (const { endpoint } of listEndpoints().filter(({ endpoint }) => endpoint.method === 'GET')) {
      const inOrg = isOfUserAdmin(endpoint) ? userAdmin : tenant.admin
      const reader = isOfCustodian(endpoint) ? custodian : inOrg
      const own = bearerFor(vault, endpoint)
      const { as } = own ? { as: own } : isOfPerson(endpoint) ? person : reader
      const query = queries[endpoint.path] ?? {}
      const entries = await newEntries(world, async () => {
        const answer = await world.call(endpoint, { as, params: { ...params, ...vault.params }, query })
        expect([endpoint.path, answer.status]).toEqual([endpoint.path, 200])
      })
      expect(entries, endpoint.path).toEqual([])
    }
  })
})

describe('the trail', () => {
  test('knows every action that the contract names', async () => {
    const seen = new Set((await auditRows(world)).map((entry) => entry.action))
    expect([...seen].sort()).toEqual(Object.keys(auditActions).sort())
  })

  test('holds no ciphertext, wrapped key, key, hash or bearer, and of addresses of mails only those of invitations', async () => {
    const rows = (await auditRows(world)).map(({ userAgent: _, ...row }) => row)
    const text = JSON.stringify(rows.filter(({ action }) => !/^invite[.]/.test(String(action))))
    const invitations = JSON.stringify(rows.map(({ metadata }) => ({ ...(metadata as object), email: undefined })))
    expect(invitations).not.toContain('@')
    expect(text).not.toMatch(/(?:sc1|wd1|pk1|pk2)\.|skt_\w{22}_|skm_|\beyJ[\w-]+\.|@|-----BEGIN/)
    const secret = sent.filter((value) => value.length >= 40)
    expect(secret.length).toBeGreaterThan(10)
    for (const value of secret) expect(text).not.toContain(value)
  })

  test('refuses UPDATE, DELETE and TRUNCATE, in the table and in each partition, to the owner of the table too', async () => {
    const { db } = world.server.context
    const partitions = await db.rows<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_entries'::regclass`,
    )
    expect(partitions.length).toBeGreaterThan(3)
    const before = await auditRows(world)
    let filled = 0
    for (const { name } of [{ name: 'audit_entries' }, ...partitions]) {
      const refused = { code: '23001' }
      await expect(db.rows(`truncate ${name}`), name).rejects.toMatchObject(refused)
      if ((await db.row(`select 1 from ${name} limit 1`)) === undefined) continue
      filled++
      await expect(db.rows(`update ${name} set metadata = '{}'`), name).rejects.toMatchObject(refused)
      await expect(db.rows(`delete from ${name}`), name).rejects.toMatchObject(refused)
    }
    expect(filled).toBeGreaterThan(1)
    expect(await auditRows(world)).toEqual(before)
  })
})
