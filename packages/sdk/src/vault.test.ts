import { describe, expect, test } from 'vitest'
import { createVault, verifyWebhook } from './vault.ts'

/** The published vector. */
const body =
  '{"id":"vwd_1","type":"ping","createdAt":"2026-10-04T12:00:00.000Z","projectId":"vpj_1","data":{"connection":null}}'
const signature = 'v1=7d2f2258696d1a73f8ab0fc67a79653d4b98fab33a28e248a23568bdddbd0044'
const at = (seconds: number) => () => new Date(seconds * 1000)

const webhook = (more: object = {}, prefix = 'seekrit') => ({
  secret: 'whsec_test',
  headers: {
    [`${prefix}-webhook-id`]: 'vwd_1',
    [`${prefix}-webhook-timestamp`]: '1791115200',
    [`${prefix}-webhook-signature`]: signature,
  },
  body,
  now: at(1_791_115_200),
  ...more,
})

describe('a webhook', () => {
  test.each(['seekrit', 'skerry'])('of the published vector is taken, with headers of %s', async (prefix) => {
    expect(await verifyWebhook(webhook({}, prefix))).toEqual(JSON.parse(body))
  })

  test.each([300, -300])('is taken when the clocks are %i s apart, and no further', async (seconds) => {
    const later = (more: number) => verifyWebhook(webhook({ now: at(1_791_115_200 + seconds + more) }))
    expect(await later(0)).toMatchObject({ id: 'vwd_1' })
    await expect(later(Math.sign(seconds))).rejects.toThrow('the timestamp of the webhook')
  })

  test.each([
    ['another secret', { secret: 'whsec_other' }, 'not signed with this secret'],
    ['a secret without its prefix', { secret: 'test' }, 'not signed with this secret'],
    ['a changed body', { body: body.replace('ping', 'pong') }, 'not signed with this secret'],
    ['no headers', { headers: {} }, 'the timestamp of the webhook'],
  ])('with %s is refused', async (_, more, message) => {
    await expect(verifyWebhook(webhook(more))).rejects.toThrow(message)
  })
})

describe('a link', () => {
  const thumbprint = 'k'.repeat(43)
  const session = { id: 'vcs_1', token: 'vct_1', expiresAt: '2026-10-04T12:00:00.000Z', method: 'api_key' }
  const open = (identity: object) => {
    const asked: string[] = []
    const fetch = async (url: string) => {
      asked.push(url)
      const isIdentity = url.endsWith('/v1/identity')
      const answer = isIdentity ? identity : { session: { ...session, connectionId: 'vcn_1' } }
      return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } })
    }
    const places = { baseUrl: 'https://skerry.example.com', executorUrl: 'https://executor.example.com' }
    return { asked, vault: createVault({ ...places, key: 'skv_key', executorToken: 'token', fetch }) }
  }

  test('carries everything in its fragment, with the executor and key that the executor told, once', async () => {
    const { asked, vault } = open({ origin: 'https://executor.example.com', thumbprint })
    const { url, connectionId } = await vault.connect({ userRef: 'u', providerId: 'acme' })
    const fragment = `t=vct_1&x=https%3A%2F%2Fexecutor.example.com&k=${thumbprint}`
    expect([url, connectionId]).toEqual([`https://skerry.example.com/connect/#${fragment}`, 'vcn_1'])
    await vault.manage({ userRef: 'u' })
    expect(asked.filter((one) => one.endsWith('/v1/identity'))).toEqual(['https://executor.example.com/v1/identity'])
  })

  test.each([
    ['a path behind its origin', { origin: 'https://executor.example.com/x', thumbprint }],
    ['no thumbprint', { origin: 'https://executor.example.com' }],
  ])('is not made for an executor with %s', async (_, identity) => {
    const link = open(identity).vault.connect({ userRef: 'u', providerId: 'acme' })
    await expect(link).rejects.toMatchObject({ code: 'malformed_answer' })
  })
})
