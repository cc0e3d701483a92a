import { audit } from '@skerry/contract/audit/endpoints'
import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { mfaPolicy, orgs } from '@skerry/contract/orgs/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeOneOfEach, type OneOfEach } from '../../../test/callers.ts'
import { engine } from '../../../test/engine.ts'
import { send, statusOf, textOf } from '../../../test/http.ts'
import { pathOf } from '../../../test/samples.ts'
import {
  type Actor,
  acceptInvites,
  askForCliSession,
  grantKey,
  newApp,
  newCliSession,
  newEnv,
  newMember,
  sessionOf,
  signUp,
  type Tenant,
  withFactor,
} from '../../../test/tenant.ts'
import { call, openWorld, start, type World } from '../../../test/world.ts'
import { routes } from '../../app.ts'
import { secondFactorNeeded } from '../../http/access.ts'

let world: World
let place: OneOfEach
let tenant: Tenant
const email = 'admin-of-all@example.com'
let person: Actor

beforeAll(async () => {
  world = await openWorld()
  place = await makeOneOfEach(world)
  tenant = place.tenant
  person = await newMember(world, tenant, 'admin', { email })
  await grantKey(world, tenant, place.params.envId as string, person)
})
afterAll(() => world.close())
beforeEach(() => setPolicy(false))

const params = () => ({ orgId: tenant.orgId })
const setPolicy = (required: boolean, as = tenant.admin.as) =>
  world.call(mfaPolicy.update, { as, params: params(), body: { required } })
const read = (as = tenant.admin.as) => world.call(mfaPolicy.get, { as, params: params() })
const session = (claims: object = {}) => sessionOf(world, email, claims)

describe('the policy', () => {
  test('is off at first, and reports that people can sign in here', async () => {
    expect((await read()).body).toEqual({ required: false, configured: true })
  })

  test('is turned on and off by an admin, and the audit log has one entry for each change', async () => {
    const entries = async () =>
      (
        await world.call(audit.list, {
          as: tenant.admin.as,
          params: params(),
          query: { action: 'org.mfa_policy_updated' },
        })
      ).body.entries
    const before = (await entries()).length
    const as = await session(withFactor(world))
    for (const required of [true, true, false, false])
      expect((await setPolicy(required, as)).body.required).toBe(required)
    const metadata = (await entries()).slice(0, -before || undefined).map((entry) => entry.metadata)
    expect(metadata).toEqual([{ required: false }, { required: true }])
  })

  test('cannot be turned on by a person who has entered no second factor', async () => {
    for (const claims of [{}, { mfa_enrolled: true }, { amr: ['pwd'], auth_time: 1 }]) {
      const { status, error } = await setPolicy(true, await session(claims))
      expect([status, error?.code]).toEqual([403, 'mfa_required'])
    }
    expect((await read()).body.required).toBe(false)
  })

  test('cannot be read or changed by a member', async () => {
    const { as } = await newMember(world, tenant)
    expect([(await read(as)).status, (await setPolicy(true, as)).status]).toEqual([403, 403])
  })
})

// A server with the embedded database always has a server key, so people can always sign in there.
test.runIf(engine() === 'postgres')(
  'on a server where nobody can sign in, the policy says so and cannot be turned on',
  async () => {
    const closed = await openWorld({ SKERRY_OIDC_ISSUER: '', SKERRY_OIDC_AUDIENCE: '', SKERRY_SERVER_KEY: '' })
    const there = await signUp(closed)
    const about = { as: there.admin.as, params: { orgId: there.orgId } }
    expect((await closed.call(mfaPolicy.get, about)).body).toEqual({ required: false, configured: false })
    expect((await closed.call(mfaPolicy.update, { ...about, body: { required: true } })).status).toBe(409)
    await closed.close()
  },
)

describe('while a second factor is required', () => {
  beforeEach(() => setPolicy(true))

  const ofOrg = routes.filter(({ endpoint }) => /^\/v1\/(?:orgs\/:orgId|resolve$)/.test(endpoint.path))

  /**
   * Returns the answer of the access check. If it admits the caller, the unknown query parameter is refused afterwards.
   */
  async function answerOf({ endpoint }: (typeof routes)[number], as: string) {
    const probe = endpoint.path === '/v1/resolve' ? `env=${place.params.envId}` : 'probe=1'
    const response = await send(`${world.url}${pathOf(endpoint, place.params)}?${probe}`, {
      method: endpoint.method,
      headers: { authorization: as },
    })
    const { error } = JSON.parse(await textOf(response)) as { error?: { code: string; message: string } }
    return { status: statusOf(response), code: error?.code, message: error?.message ?? '' }
  }

  test.each(ofOrg.map((route) => [`${route.endpoint.method} ${route.endpoint.path}`, route] as const))(
    '%s refuses every session without one, and no other caller for that reason',
    async (_, route) => {
      const without = { as: await session() }
      const enrolled = await session({ mfa_enrolled: true })
      const cliWithout = await newCliSession(world, without)
      for (const as of [without.as, enrolled, cliWithout.as]) {
        const answer = await answerOf(route, as)
        expect([answer.status, answer.code]).toEqual([403, 'mfa_required'])
        expect(answer.message).toBe(secondFactorNeeded)
      }
      const entered = await session(withFactor(world, 86_400))
      const cliWith = await newCliSession(world, { as: await session(withFactor(world)) })
      for (const as of [entered, cliWith.as, tenant.admin.as, tenant.machine.as])
        expect((await answerOf(route, as)).message).not.toBe(secondFactorNeeded)
    },
  )

  test('every route of an organization is tested', () => {
    expect(ofOrg.length).toBeGreaterThan(40)
  })

  test('a person outside the organization still gets 404', async () => {
    const as = await sessionOf(world, 'stranger-to-all@example.com')
    expect((await world.call(orgs.get, { as, params: params() })).status).toBe(404)
    expect((await world.call(resolve.get, { as, query: { env: place.params.envId as string } })).status).toBe(404)
  })

  test('a refused resolve is recorded, and cached answers are refused too, on every server', async () => {
    await setPolicy(false)
    const as = await session()
    const { config } = world.server.context
    const other = engine() === 'postgres' ? await start({ ...config, port: 0 }, world.log, world.clock.now) : null
    const urls = [world.url, ...(other ? [other.url] : [])]
    const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    await grantKey(world, tenant, envId, person)
    const ask = (url: string) => call(url, world.answers, resolve.get, { as, query: { env: envId } })
    for (const url of urls) expect([(await ask(url)).status, (await ask(url)).status]).toEqual([200, 200])
    await setPolicy(true)
    for (const url of urls.reverse()) expect((await ask(url)).error?.code).toBe('mfa_required')
    const trail = await world.call(audit.list, {
      as: tenant.admin.as,
      params: params(),
      query: { action: 'env.resolve_denied', resourceId: envId },
    })
    expect(trail.body.entries[0]?.metadata).toEqual({ reason: 'no second factor was entered', asked: { env: envId } })
    await other?.close()
  })

  test('a person may be invited and accept, and must then enter one', async () => {
    const guest = 'guest-of-strict@example.com'
    await world.call(invites.create, { as: tenant.admin.as, params: params(), body: { email: guest } })
    await acceptInvites(world, { as: await sessionOf(world, guest) })
    const ask = async (claims: object) =>
      world.call(orgs.get, { as: await sessionOf(world, guest, claims), params: params() })
    expect((await ask({})).error?.code).toBe('mfa_required')
    expect((await ask(withFactor(world))).status).toBe(200)
    expect(
      (
        await world.call(members.remove, {
          as: await sessionOf(world, guest),
          params: { ...params(), userId: person.id },
        })
      ).error?.code,
    ).toBe('mfa_required')
  })

  test('a CLI session may be requested and approved, because it belongs to a person and not to an organization', async () => {
    const { code } = await askForCliSession(world)
    expect((await world.call(cliLogin.get, { as: await session(), params: { code } })).status).toBe(200)
  })
})
