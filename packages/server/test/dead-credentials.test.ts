import { expect, test } from 'vitest'
import { deadTokens } from './callers.ts'
import { openTenant } from './scene.ts'

// A credential that does not work tells nothing about why.

const { world, tenant } = await openTenant()

/** All that a caller can see of an answer, but for what differs between any two. */
async function seen(path: string, as: string) {
  const response = await fetch(`${world.url}${path}`, { headers: { authorization: as } })
  const headers = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  return { status: response.status, headers, body: await response.text() }
}

test('a credential that does not work is answered in the same bytes, whether unknown, revoked, expired or deleted', async () => {
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

test('a credential of any broken form is 401, never an error of the server', async () => {
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
