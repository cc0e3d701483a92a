import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { signInAt } from '../../test/services/browser.ts'
import { client, type IdentityProvider, resource, startProvider } from '../../test/services/provider.ts'
import { acceptInvites, signUp, type Tenant } from '../../test/tenant.ts'
import { openWorld, type World } from '../../test/world.ts'

// Tests with a real provider and its pages. They prove that the tokens of our test issuers match those of providers.

// The provider warns that its pages are for development only, which is fine here.
for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})

const whoAmI = (world: World, token: string) => world.call(me.get, { as: `Bearer ${token}` })

describe.each(['RS256', 'ES256', 'EdDSA'] as const)('a provider that signs with %s', (algorithm) => {
  let provider: IdentityProvider
  let world: World
  let tenant: Tenant
  beforeAll(async () => {
    provider = await startProvider(algorithm)
    world = await openWorld({ SKERRY_OIDC_ISSUER: provider.url, SKERRY_OIDC_AUDIENCE: resource })
    tenant = await signUp(world)
  })
  afterAll(async () => {
    await world.close()
    await provider.close()
  })

  const invite = (email: string) =>
    world.call(invites.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body: { email } })

  test('lets an invited person join the organization with an access token', async () => {
    await invite('ada@example.com')
    const { accessToken } = await signInAt(provider.url, 'ada@example.com')
    await acceptInvites(world, { as: `Bearer ${accessToken}` })
    expect(decodeProtectedHeader(accessToken)).toMatchObject({ alg: algorithm, typ: 'at+jwt' })
    const { status, body } = await whoAmI(world, accessToken)
    expect(status).toBe(200)
    expect(body.user).toMatchObject({ email: 'ada@example.com', name: 'ada' })
    expect(body.orgs.map(({ id, role }) => [id, role])).toEqual([[tenant.orgId, 'member']])
    const answer = await world.call(orgs.get, { as: `Bearer ${accessToken}`, params: { orgId: tenant.orgId } })
    expect(answer.body.org.role).toBe('member')
  })

  test('identifies the same person at the next sign-in', async () => {
    const ids = []
    for (let round = 0; round < 2; round++) {
      const { accessToken } = await signInAt(provider.url, 'again@example.com')
      ids.push((await whoAmI(world, accessToken)).body.principal.id)
    }
    expect(ids[0]).toBe(ids[1])
  })

  test('does not let a person with an unverified address join', async () => {
    await invite('unverified-eve@example.com')
    const { accessToken } = await signInAt(provider.url, 'unverified-eve@example.com')
    await acceptInvites(world, { as: `Bearer ${accessToken}` })
    expect((await whoAmI(world, accessToken)).body.orgs).toEqual([])
  })

  test('cannot sign in a person with an ID token, because its audience is the client', async () => {
    const { idToken } = await signInAt(provider.url, 'bob@example.com')
    expect((await whoAmI(world, idToken)).status).toBe(401)
  })
})

test('an ID token signs its person in if the configured audience is the client', async () => {
  const provider = await startProvider('RS256')
  const world = await openWorld({ SKERRY_OIDC_ISSUER: provider.url, SKERRY_OIDC_AUDIENCE: client.id })
  const tenant = await signUp(world)
  const body = { email: 'ida@example.com', role: 'admin' }
  await world.call(invites.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  const { idToken, accessToken } = await signInAt(provider.url, 'ida@example.com')
  await acceptInvites(world, { as: `Bearer ${idToken}` })
  const answer = await whoAmI(world, idToken)
  expect(answer.body.orgs.map(({ id, role }) => [id, role])).toEqual([[tenant.orgId, 'owner']])
  expect((await whoAmI(world, accessToken)).status).toBe(401)
  await world.close()
  await provider.close()
})
