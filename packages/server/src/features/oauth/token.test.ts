import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { describe, expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import { newToken, signUp } from '../../../test/tenant.ts'
import { sweepAccessTokens } from './jobs.ts'

const { world, tenant } = await openTenant()
const clientId = tenant.machine.id
const clientSecret = Buffer.from(tenant.machine.as.slice('Basic '.length), 'base64').toString().split(':')[1] as string

const grant = { grant_type: 'client_credentials' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const whoAmI = (as: string) => world.call(me.get, { as })

describe('Basic credentials', () => {
  test('authenticate the machine client directly, on admin routes too', async () => {
    const { body } = await whoAmI(tenant.machine.as)
    expect(body).toMatchObject({ user: null, principal: { type: 'm2m', id: clientId }, orgs: [{ id: tenant.orgId }] })
    const params = { orgId: tenant.orgId }
    const answer = await world.call(apps.create, {
      as: tenant.machine.as,
      params,
      body: { name: 'A', slug: 'by-basic' },
    })
    expect(answer.status).toBe(201)
  })

  test('work with the scheme in any capitalization', async () => {
    const as = tenant.machine.as.replace('Basic', 'bAsIc')
    expect((await whoAmI(as)).status).toBe(200)
  })

  test.each([
    ['a wrong secret', () => basic(`${clientId}:${'A'.repeat(43)}`)],
    ['an empty secret', () => basic(`${clientId}:`)],
    ['an unknown client', () => basic(`m2m_${'0'.repeat(22)}:${clientSecret}`)],
    ['a client id of another form', () => basic(`nobody\0:${clientSecret}`)],
    ['no colon', () => basic(clientId)],
    ['text that is not base64', () => 'Basic !!!!'],
    ['nothing after the scheme', () => 'Basic'],
    ['two credentials', () => `${tenant.machine.as} ${tenant.machine.as.slice(6)}`],
    ['a service token', () => basic(`${tenant.admin.id}:${tenant.admin.as.split('_').at(-1)}`)],
    ['client credentials as Bearer', () => `Bearer ${clientId}_${clientSecret}`],
  ])('%s answers 401', async (_, as) => {
    const { status, error, headers } = await whoAmI(as())
    expect([status, error?.code, headers.get('www-authenticate')]).toEqual([401, 'unauthorized', 'Bearer'])
  })

  test('that are wrong get the same answer, whether or not the client exists', async () => {
    const known = await whoAmI(basic(`${clientId}:${'A'.repeat(43)}`))
    const unknown = await whoAmI(basic(`m2m_${'0'.repeat(22)}:${'A'.repeat(43)}`))
    expect(known.error).toEqual(unknown.error)
  })
})

describe('the token endpoint', () => {
  const ask = (body: object | string, more: { as?: string; headers?: Record<string, string> } = {}) =>
    world.call(oauth.token, { body: body as Record<string, unknown>, ...more })

  test.each([
    ['a Basic header', () => ask(grant, { as: tenant.machine.as })],
    ['a Basic header and a form', () => ask(`${new URLSearchParams(grant)}`, { as: tenant.machine.as, headers: form })],
    ['a JSON body', () => ask({ ...grant, client_id: clientId, client_secret: clientSecret })],
    [
      'a form',
      () =>
        ask(`${new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret })}`, {
          headers: form,
        }),
    ],
  ])('issues a token for %s', async (_, request) => {
    const { status, body, headers } = await request()
    expect(status).toBe(200)
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })
    // RFC 6749 section 5.1: no cache may store the answer.
    expect(headers.get('cache-control')).toBe('no-store')
    const { body: caller } = await whoAmI(`Bearer ${body.access_token}`)
    expect(caller.principal).toEqual({ type: 'm2m', id: clientId })
  })

  test('records each token that it issues', async () => {
    const count = async () => {
      const query = { action: 'machine_client.token_issued', limit: 200 }
      const { body } = await world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })
      return body.entries.length
    }
    const before = await count()
    await ask(grant, { as: tenant.machine.as })
    await ask(grant, { as: basic(`${clientId}:wrong`) })
    expect(await count()).toBe(before + 1)
  })

  test('accepts Basic credentials that a library has form-encoded, and ignores parameters that it does not know', async () => {
    const encoded = (text: string) => text.replace(/[^a-z]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
    const as = basic(`${encoded(clientId)}:${encoded(clientSecret)}`)
    const body = { ...grant, audience: 'x', resource: 'https://api.example.com' }
    expect((await ask(body, { as })).status).toBe(200)
    expect((await ask(`${new URLSearchParams(body)}&scope=`, { as, headers: form })).status).toBe(200)
    expect((await whoAmI(as)).status).toBe(200)
    for (const wrong of ['%', '%zz', '%ff'])
      expect((await ask(grant, { as: basic(`${clientId}:${wrong}`) })).error?.code).toBe('invalid_client')
  })

  test.each([
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no grant type', {}, 'invalid_request'],
  ])('refuses %s with 400', async (_, body, code) => {
    const json = await ask(body, { as: tenant.machine.as })
    const asForm = await ask(`${new URLSearchParams(body)}`, { as: tenant.machine.as, headers: form })
    for (const { status, error } of [json, asForm]) expect([status, error?.code]).toEqual([400, code])
  })

  test('refuses with an error of OAuth, which libraries read', async () => {
    const as = basic(`${clientId}:wrong`)
    const response = await fetch(`${world.url}/oauth/token`, {
      method: 'POST',
      headers: { ...form, authorization: as },
      body: 'grant_type=client_credentials',
    })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="skerry"'])
    expect(await response.json()).toEqual({
      error: 'invalid_client',
      error_description: 'unknown client credentials',
    })
    const oidc = await import('openid-client')
    const metadata = { issuer: world.url, token_endpoint: `${world.url}/oauth/token` }
    const ofLibrary = (secret: string) => {
      const config = new oidc.Configuration(metadata, clientId, undefined, oidc.ClientSecretBasic(secret))
      oidc.allowInsecureRequests(config)
      return oidc.clientCredentialsGrant(config, { audience: 'x' })
    }
    expect((await ofLibrary(clientSecret)).access_token).toMatch(/^skm_/)
    await expect(ofLibrary('wrong')).rejects.toThrow()
  })

  test.each([
    ['no credentials', () => ask(grant)],
    ['a wrong secret', () => ask({ ...grant, client_id: clientId, client_secret: 'A'.repeat(43) })],
    ['an unknown client', () => ask({ ...grant, client_id: `m2m_${'0'.repeat(22)}`, client_secret: clientSecret })],
    ['half of the credentials', () => ask({ ...grant, client_id: clientId })],
    ['a wrong Basic header', () => ask(grant, { as: basic(`${clientId}:wrong`) })],
    ['a Bearer header', () => ask(grant, { as: tenant.admin.as })],
  ])('refuses %s with 401', async (_, request) => {
    const { status, error } = await request()
    expect([status, error?.code]).toEqual([401, 'invalid_client'])
  })

  test('refuses a wrong header, even beside right credentials in the body', async () => {
    const body = { ...grant, client_id: clientId, client_secret: clientSecret }
    expect((await ask(body, { as: basic(`${clientId}:wrong`) })).status).toBe(401)
  })

  test('is the only route that reads forms', async () => {
    const params = { orgId: tenant.orgId }
    const answer = await world.call(apps.create, {
      as: tenant.machine.as,
      params,
      headers: form,
      body: 'name=a&slug=form',
    })
    expect([answer.status, answer.error?.message]).toEqual([400, 'body: send JSON'])
  })
})

describe('an access token', () => {
  const issue = async () => (await world.call(oauth.token, { as: tenant.machine.as, body: grant })).body.access_token

  test('works on admin routes of its organization, and in no other organization', async () => {
    const as = `Bearer ${await issue()}`
    const stranger = await signUp(world)
    const body = { name: 'A', slug: 'by-token' }
    expect((await world.call(apps.create, { as, params: { orgId: tenant.orgId }, body })).status).toBe(201)
    expect((await world.call(apps.create, { as, params: { orgId: stranger.orgId }, body })).status).toBe(404)
  })

  test('works for an hour and is unknown after it', async () => {
    const as = `Bearer ${await issue()}`
    world.clock.advance(3595)
    expect((await whoAmI(as)).status).toBe(200)
    world.clock.advance(10)
    const { status, error } = await whoAmI(as)
    expect([status, error?.message]).toEqual([401, 'unknown access token'])
  })

  test('that was never issued is unknown', async () => {
    expect((await whoAmI(`Bearer skm_${'A'.repeat(43)}`)).status).toBe(401)
  })

  test('is in the database only as a hash', async () => {
    const token = await issue()
    const rows = await world.server.context.db.rows('select * from machine_tokens')
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(token.slice('skm_'.length))
  })

  test('is deleted by the sweep once it has expired, and not before', async () => {
    const { context } = world.server
    await issue()
    world.clock.advance(3700)
    const live = await issue()
    await sweepAccessTokens(context)
    expect(await context.db.rows('select 1 from machine_tokens')).toHaveLength(1)
    expect((await whoAmI(`Bearer ${live}`)).status).toBe(200)
  })
})

test('a service token is not a machine client and gets no access token', async () => {
  const token = await newToken(world, tenant, { role: 'admin' })
  const body = { ...grant, client_id: token.id, client_secret: 'x' }
  expect((await world.call(oauth.token, { body })).status).toBe(401)
})
