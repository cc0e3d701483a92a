import { describe, expect, test } from 'vitest'
import { bearerSecret, ciphertext } from './blobs.ts'
import { deadTokens } from './callers.ts'
import { openEnv } from './scene.ts'
import { grantKey, newToken, signUp } from './tenant.ts'

// The response to an invalid credential does not tell why it is invalid.

const { world, tenant, envId } = await openEnv()
const elsewhere = await signUp(world)

/** Everything that a caller sees of a response, except the headers that always differ. */
async function seen(path: string, as: string, { method = 'GET', body }: { method?: string; body?: object } = {}) {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: { authorization: as, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const headers = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  return { status: response.status, headers, body: await response.text() }
}

test('an unknown, a revoked, an expired and a deleted credential get exactly the same response', async () => {
  const dead = await deadTokens(world, tenant)
  for (const path of ['/v1/me', '/v1/resolve', `/v1/orgs/${tenant.orgId}/tokens`]) {
    const answers = await Promise.all(Object.values(dead).map((as) => seen(path, as)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({
      status: 401,
      body: '{"error":{"code":"unauthorized","message":"unknown service token"}}',
    })
  }
})

describe('a cached token that was ended in the database gets the same response as an unknown one', () => {
  const { orgId } = tenant
  const app = { name: 'Name', slug: 'late' }
  const sql = (text: string, id: string) => world.server.context.db.rows(text, [id])
  const ends: Record<string, (id: string) => unknown> = {
    revoked: (id) => sql('update service_tokens set revoked_at = now() where id = $1', id),
    deleted: (id) => sql('update service_tokens set revoked_at = now(), deleted_at = now() where id = $1', id),
    expired: () => world.clock.advance(61),
  }

  test.each([
    [
      'when it writes a secret',
      'member',
      'PUT',
      `/v1/orgs/${orgId}/envs/${envId}/secrets/A`,
      { ciphertext: ciphertext() },
    ],
    ['on a route for admins', 'member', 'POST', `/v1/orgs/${orgId}/apps`, app],
    ['with a malformed body', 'admin', 'POST', `/v1/orgs/${orgId}/apps`, { ...app, name: 1 }],
    ['in another organization', 'admin', 'POST', `/v1/orgs/${elsewhere.orgId}/apps`, app],
  ] as const)('%s', async (_, role, method, path, body) => {
    const unknown = await seen(path, `Bearer ${tenant.admin.id}_${bearerSecret()}`, { method, body })
    expect(unknown.status).toBe(401)
    for (const [how, end] of Object.entries(ends)) {
      const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
      const { id, as } = await newToken(world, tenant, { role, expiresAt })
      await grantKey(world, tenant, envId, { id, as })
      expect((await seen(path, as, { method, body })).status).not.toBe(401)
      await end(id)
      expect([how, await seen(path, as, { method, body })]).toEqual([how, unknown])
    }
  })
})

test('a malformed credential gets 401, never a server error', async () => {
  const { admin, machine } = tenant
  const [id, secret] = Buffer.from(machine.as.slice('Basic '.length), 'base64').toString().split(':')
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  const bad = [
    'Bearer',
    'Basic',
    'Basic !!!',
    'Bearer  ',
    `${admin.as} more`,
    admin.as.replace('Bearer', 'Token'),
    admin.as.slice('Bearer '.length),
    `${admin.as}x`,
    admin.as.slice(0, -1),
    'Bearer skt_',
    'Bearer skc_unknown',
    'Bearer skm_unknown',
    'Bearer a.b.c',
    `Bearer ${'a'.repeat(5000)}.b.c`,
    'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.',
    basic(`${id}:${secret}x`),
    basic(`${id}:`),
    basic(`${id}`),
    basic(`:${secret}`),
    basic(admin.as.slice('Bearer '.length)),
    basic(`${admin.id}:${admin.as.slice('Bearer '.length)}`),
  ]
  for (const as of bad) expect([as, (await seen('/v1/me', as)).status]).toEqual([as, 401])
})
