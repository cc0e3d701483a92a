import { type AuditAction, auditActions } from '@skerry/contract/actions'
import { apps } from '@skerry/contract/apps/endpoints'
import { signedActions } from '@skerry/contract/directory/actions'
import { type Endpoint, isTrusted } from '@skerry/contract/endpoint'
import { listEndpoints } from '@skerry/contract/endpoints'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { recovery } from '@skerry/contract/recovery/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seal } from '../src/features/audit-proof/seal.ts'
import { describeOtherwise, userAgent } from './audited-otherwise.ts'
import { makeOneOfEach, type OneOfEach } from './callers.ts'
import { buildWalk, type Walk } from './mutations.ts'
import { newOverrider } from './override-steps.ts'
import { recoveryBody } from './recovery-steps.ts'
import { isOfCustodian, isOfOverrider, isOfPerson, isOfUserAdmin } from './samples.ts'
import { type AppPlatform, startAppPlatform } from './services/app-platform.ts'
import { type Stripe, startStripe } from './services/stripe.ts'
import { type AuditRow, auditRows, newEntries, stateOf, stopSchedules } from './state.ts'
import type { Step } from './step.ts'
import { newMember, newPerson, newToken } from './tenant.ts'
import { bearerFor, newSurfaces } from './vault-scene.ts'
import { builtIn, openWorld, type World } from './world.ts'

let platform: AppPlatform
let stripe: Stripe
let world: World
let walk: Walk
let place: OneOfEach
/** Every top-level string of the bodies that the walk sent. */
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
  place = await makeOneOfEach(world)
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
  // The key thumbprint is left out: it is public, and the audit log names the keys of an executor.
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

/** Whether the endpoint refuses unknown fields. OAuth requires the token endpoint to ignore unknown parameters. */
const isClosed = ({ path }: { path: string }) => path !== oauth.token.path

type Answer = Awaited<ReturnType<typeof send>>

/** Sends the step with an unknown field, which must write no entry. Then sends it as it is and compares the entries. */
async function check(step: Step): Promise<AuditAction[]> {
  const refused = await newEntries(world, async () => {
    if (isClosed(step.endpoint))
      expect((await send(step, { probe: 1 })).error?.message).toBe('body: unknown field "probe"')
  })
  expect(refused, titleOf(step)).toEqual([])
  if (isTrusted(step.endpoint.body)) await checkTrust(step)
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

/** Sends the step with documents that are wrong. The change is made first, and must not be there afterwards. */
async function checkTrust(step: Step): Promise<void> {
  const trust = { head: 'od1.AAAA.AAAA', entries: [] }
  const refused = await newEntries(world, async () => {
    const { status, error } = await send(step, { trust })
    expect([titleOf(step), status, error?.message]).toEqual([
      titleOf(step),
      409,
      'body.trust: the organization has no directory: start it first',
    ])
  })
  expect(refused, titleOf(step)).toEqual([])
}

const facts = ({ id: _id, metadata: _metadata, createdAt: _at, ...rest }: AuditRow & { createdAt?: string }) => rest
const byAction = (a: Placed, b: Placed) => (placeOf(a) < placeOf(b) ? -1 : 1)
interface Placed {
  action: string
  orgId: string | null
  resourceId: string | null
}
const placeOf = ({ action, orgId, resourceId }: Placed) => `${action} ${orgId} ${resourceId}`

/** Mutations that the walk cannot perform, each with the reason and the test that covers it. */
const elsewhere = new Set([
  'POST /v1/sign-in/set-up', // needs a server without people: features/sign-in/sign-in.test.ts
  'POST /v1/orgs/:orgId/leases/:leaseId/forget', // needs a lease that the server failed to end for a day: audited-otherwise.ts
  'POST /v1/orgs/:orgId/rotation', // its entries name ids that no response contains: audited-otherwise.ts
  'POST /v1/orgs/:orgId/rotation/:rotationId/rotate', // audited-otherwise.ts
  'DELETE /v1/orgs/:orgId/rotation/:rotationId', // audited-otherwise.ts
  // These routes need a change of the issuer: features/identity-links/identity-links.test.ts
  'POST /v1/sign-in/identity-link/confirm',
  'POST /v1/sign-in/identity-link/second-factor',
  'POST /v1/sign-in/identity-link/decline',
  'POST /v1/sign-in/refresh', // audits only refusals: features/sign-in/sessions.test.ts
])
/** Actions of the other mutations that the walk does not cause. */
const actionsElsewhere: readonly AuditAction[] = [
  'token.registered', // needs an organization that was restored: audited-otherwise.ts
  'user.identity_linked', // needs a change of the issuer: features/identity-links/identity-links.test.ts
]

describe('a mutation', () => {
  test('writes exactly the audit entries that the contract names, with actor, object, address and request id', async () => {
    const written = new Map<string, Set<string>>()
    for (const step of walk.steps) {
      const key = titleOf({ endpoint: step.endpoint })
      const actions = written.get(key) ?? new Set()
      for (const action of await check(step)) actions.add(action)
      written.set(key, actions)
    }
    const mutations = listEndpoints().filter(({ endpoint }) => endpoint.unit !== 'read' && !endpoint.unaudited)
    const walked = mutations.filter(({ endpoint }) => !elsewhere.has(titleOf({ endpoint })))
    // A change also leaves the entries of the documents that it may carry: features/directory/trust.test.ts.
    const ofDocuments = ({ body }: Endpoint): readonly AuditAction[] => (isTrusted(body) ? signedActions : [])
    const actionsOf = (endpoint: Endpoint) =>
      endpoint.audits
        .filter((action) => !actionsElsewhere.includes(action) && !ofDocuments(endpoint).includes(action))
        .sort()
    const declared = walked.map(({ endpoint }) => [titleOf({ endpoint }), actionsOf(endpoint)])
    expect(Object.fromEntries([...written].map(([key, actions]) => [key, [...actions].sort()]))).toEqual(
      Object.fromEntries(declared),
    )
  }, 600_000)

  test('writes no audit entry only if the contract gives a reason', () => {
    const mutations = listEndpoints().filter(({ endpoint }) => endpoint.unit !== 'read')
    for (const { endpoint } of mutations)
      expect([titleOf({ endpoint }), Boolean(endpoint.unaudited)]).toEqual([
        titleOf({ endpoint }),
        endpoint.audits.length === 0,
      ])
  })

  test('that changes nothing, such as a second revocation, writes no audit entry', async () => {
    const target = await newToken(world, place.tenant)
    const params = { orgId: place.tenant.orgId, tokenId: target.id }
    const revoke = () => world.call(tokens.revoke, { as: place.tenant.admin.as, params })
    expect(await newEntries(world, revoke)).toHaveLength(1)
    expect(await newEntries(world, revoke)).toEqual([])
  })

  test('that fails late, with a conflict, writes no audit entry', async () => {
    const { orgId, admin } = place.tenant
    const create = () =>
      world.call(apps.create, { as: admin.as, params: { orgId }, body: { name: 'A', slug: 'twice' } })
    expect((await create()).status).toBe(201)
    const entries = await newEntries(world, async () => expect((await create()).status).toBe(409))
    expect(entries).toEqual([])
  })

  test('is rolled back if its audit entry cannot be written', async () => {
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

describeOtherwise(() => ({ world, place, stripe }))

test('a successful read writes no audit entry', async () => {
  const { tenant, params } = place
  const person = await newPerson(world, 'reader@example.com')
  const userAdmin = await newMember(world, tenant, 'admin')
  const custodian = await newMember(world, tenant)
  const { person: overrider } = await newOverrider(world, tenant, params.envId as string)
  const shared = recoveryBody([custodian, userAdmin], 2)
  await world.call(recovery.rotate, { as: tenant.admin.as, params, body: shared })
  await seal(world.server.context)
  const [sealed] = await auditRows(world).then((rows) => rows.filter(({ orgId }) => orgId === tenant.orgId))
  // The claims in `place` have expired by now, so this makes new ones.
  const vault = await newSurfaces(world, tenant)
  const queries: Record<string, Record<string, unknown>> = {
    '/v1/resolve': { env: params.envId },
    '/v1/orgs/:orgId/audit/proof/inclusion': { entry: sealed?.id },
    '/v1/orgs/:orgId/audit/proof/consistency': { from: 1 },
  }
  for (const { endpoint } of listEndpoints().filter(({ endpoint }) => endpoint.method === 'GET')) {
    const inOrg = isOfOverrider(endpoint) ? overrider : isOfUserAdmin(endpoint) ? userAdmin : tenant.admin
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

describe('the audit log', () => {
  test('has entries of every action that the contract names', async () => {
    const seen = new Set((await auditRows(world)).map((entry) => entry.action))
    expect([...seen].sort()).toEqual(Object.keys(auditActions).sort())
  })

  test('contains no ciphertext, key, hash or bearer token, and e-mail addresses only of invited and removed people', async () => {
    const rows = (await auditRows(world)).map(({ userAgent: _, ...row }) => row)
    const text = JSON.stringify(rows.filter(({ action }) => !/^(?:invite[.]|member[.]removed$)/.test(String(action))))
    const invitations = JSON.stringify(rows.map(({ metadata }) => ({ ...(metadata as object), email: undefined })))
    expect(invitations).not.toContain('@')
    expect(text).not.toMatch(/(?:sc1|sd1|wd1|pk1|pk2|pk3)\.|skt_\w{22}_|skm_|\beyJ[\w-]+\.|@|-----BEGIN/)
    const secret = sent.filter((value) => value.length >= 40)
    expect(secret.length).toBeGreaterThan(10)
    for (const value of secret) expect(text).not.toContain(value)
  })

  test('refuses UPDATE, DELETE and TRUNCATE on its table and on each partition, even by the owner of the table', async () => {
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
