import { describe, expect, test } from 'vitest'
import { createVault, type VaultSettings, verifyWebhook } from './vault.ts'

/** The published test vector. */
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
  test.each(['seekrit', 'skerry'])('of the published vector is accepted with %s headers', async (prefix) => {
    expect(await verifyWebhook(webhook({}, prefix))).toEqual(JSON.parse(body))
  })

  test.each([300, -300])('is accepted when the clocks differ by %i s, and not by more', async (seconds) => {
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
  const identity = { origin: 'https://executor.example.com', thumbprint }
  /** An executor whose identity is `told`, and a server that accepts only the identity `registered`. */
  const open = (told: object, registered = told) => {
    const asked: string[] = []
    const stage = { told, registered, now: 0 }
    const conflict = { error: { code: 'conflict', message: 'body.executor.thumbprint: no such key' } }
    const fetch = async (url: string, { body }: RequestInit) => {
      asked.push(new URL(url).pathname)
      if (url.endsWith('/v1/identity')) return Response.json(stage.told)
      const { executor } = JSON.parse(String(body)) as { executor?: object }
      const isKnown = executor === undefined || JSON.stringify(executor) === JSON.stringify(stage.registered)
      if (!isKnown) return Response.json(conflict, { status: 409 })
      return Response.json({ session: { ...session, connectionId: 'vcn_1' } })
    }
    const places = { baseUrl: 'https://skerry.example.com', executorUrl: 'https://executor.example.com' }
    const settings = { ...places, key: 'skv_key', executorToken: 'token', fetch, now: () => stage.now }
    const connect = () => vault.connect({ userRef: 'u', providerId: 'acme' })
    const times = (path: string) => asked.filter((one) => one === path).length
    const vault = createVault(settings)
    return { times, vault, connect, stage }
  }

  test('has all its data in the fragment, with the executor and key that the executor named', async () => {
    const { times, vault, connect } = open(identity)
    const { url, connectionId, executor } = await connect()
    const fragment = `t=vct_1&x=https%3A%2F%2Fexecutor.example.com&k=${thumbprint}`
    expect([url, connectionId]).toEqual([`https://skerry.example.com/connect/#${fragment}`, 'vcn_1'])
    expect(executor).toEqual(identity)
    expect((await vault.manage({ userRef: 'u' })).executor).toEqual(identity)
    expect(times('/v1/identity')).toBe(1)
  })

  test('names a rotated key within a minute', async () => {
    const { times, connect, stage } = open(identity)
    await Promise.all([connect(), connect()])
    stage.now = 59_999
    await connect()
    expect(times('/v1/identity')).toBe(1)
    const rotated = { ...identity, thumbprint: 'n'.repeat(43) }
    Object.assign(stage, { told: rotated, registered: rotated, now: 60_000 })
    expect((await connect()).executor).toEqual(rotated)
    // A clock that is set back does not extend the cache time.
    stage.now = 0
    await connect()
    expect(times('/v1/identity')).toBe(3)
  })

  test('names a replaced executor at once, because the server refuses the earlier one', async () => {
    const { times, connect, stage } = open(identity)
    await connect()
    const other = { origin: 'https://other.example.com', thumbprint: 'n'.repeat(43) }
    Object.assign(stage, { told: other, registered: other })
    const { url, executor } = await connect()
    expect([executor, url]).toEqual([other, expect.stringContaining('x=https%3A%2F%2Fother.example.com')])
    expect(times('/v1/vault/connect-sessions')).toBe(3)
  })

  test('is not created if the server still refuses the executor after a fresh request for its identity', async () => {
    const { times, connect } = open(identity, { ...identity, thumbprint: 'n'.repeat(43) })
    await expect(connect()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('no such key') })
    expect([times('/v1/identity'), times('/v1/vault/connect-sessions')]).toEqual([2, 1])
  })

  test.each([
    ['a path after its origin', { origin: 'https://executor.example.com/x', thumbprint }],
    ['no thumbprint', { origin: 'https://executor.example.com' }],
  ])('is not created for an executor with %s', async (_, identity) => {
    const link = open(identity).vault.connect({ userRef: 'u', providerId: 'acme' })
    await expect(link).rejects.toMatchObject({ code: 'malformed_answer' })
  })
})

describe('the executor', () => {
  const places = { baseUrl: 'https://skerry.example.com', executorUrl: 'https://executor.example.com' }
  const open = (answers: () => Response, more: Partial<VaultSettings> = {}) => {
    const asked: unknown[] = []
    const fetch = async (url: string, { method, headers, body, redirect }: RequestInit) => {
      asked.push({ url, method, headers, redirect, body: JSON.parse(String(body)) })
      return answers()
    }
    return { asked, vault: createVault({ ...places, key: 'skv_key', executorToken: 'token-of-it', fetch, ...more }) }
  }
  const headers = {
    ...{ accept: 'application/json', 'content-type': 'application/json', authorization: 'Bearer token-of-it' },
  }
  const lease = {
    leaseId: 'vls_1',
    sessionId: 's',
    targetId: 't',
    expiresAt: '2026-10-04T12:00:00.000Z',
    signedIn: true,
  }
  const asked = { liveViewUrl: 'https://executor.example.com/live/#k=1', expiresAt: lease.expiresAt }
  const of = { userRef: 'u', leaseId: 'vls_1' }

  test.each([
    ['open', { userRef: 'u', connectionId: 'vcn_1', keepAliveMs: 60_000 }, 201, lease],
    ['fill', { ...of, field: 'totp' }, 200, { filled: true }],
    ['release', { ...of, save: false }, 200, { saved: false, signedIn: null }],
    ['reauth', of, 200, asked],
  ] as const)('receives the browser call %s, and its answer is returned', async (name, call, status, answer) => {
    const { asked: requests, vault } = open(() => Response.json(answer, { status }))
    expect(await (vault.browser[name] as (call: object) => Promise<unknown>)(call)).toEqual(answer)
    const url = `https://executor.example.com/v1/browser/${name}`
    expect(requests).toEqual([{ url, method: 'POST', headers, redirect: 'manual', body: call }])
  })

  test.each([
    ['open', { ...lease, expiresAt: 'soon' }, 'expiresAt'],
    ['fill', { filled: false }, 'filled'],
    ['release', { saved: true }, 'signedIn'],
    ['reauth', { ...asked, liveViewUrl: '/live' }, 'liveViewUrl'],
    ['reauth', null, 'liveViewUrl'],
  ] as const)('is not trusted if its answer to %s has another form', async (name, answer, member) => {
    const { vault } = open(() => Response.json(answer))
    const call = (vault.browser[name] as (call: object) => Promise<unknown>)(of)
    await expect(call).rejects.toMatchObject({ code: 'malformed_answer', message: expect.stringContaining(member) })
  })

  test('receives the request to make a connection active again', async () => {
    const { asked: requests, vault } = open(() => Response.json({ status: 'active' }))
    const body = { userRef: 'u', connectionId: 'vcn_1' }
    expect(await vault.reactivate(body)).toEqual({ status: 'active' })
    expect(requests).toEqual([expect.objectContaining({ url: 'https://executor.example.com/v1/reactivate', body })])
  })

  const request = { method: 'GET', url: 'https://api.example.com/v1/things' }
  const call = { userRef: 'u', connectionId: 'vcn_1', request }

  test('is called only once, even if the provider answers with an error', async () => {
    const { asked: requests, vault } = open(() => new Response('busy', { status: 503 }))
    const response = await vault.fetch(call)
    expect([response.status, await response.text()]).toEqual([503, 'busy'])
    const url = 'https://executor.example.com/v1/fetch'
    expect(requests).toEqual([{ url, method: 'POST', headers, redirect: 'manual', body: call }])
  })

  test('causes an error without the token when it refuses', async () => {
    const error = { code: 'unavailable', message: 'the server refuses token-of-it' }
    const marked = { 'x-skerry-vault-error': 'unavailable' }
    const { vault } = open(() => Response.json({ error }, { status: 503, headers: marked }))
    const refused = vault.fetch(call)
    await expect(refused).rejects.toMatchObject({ name: 'UnavailableError', message: 'the server refuses [redacted]' })
  })

  test('counts as unavailable if it redirects or does not answer', async () => {
    const elsewhere = () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } })
    await expect(open(elsewhere).vault.fetch(call)).rejects.toMatchObject({ code: 'unavailable' })
    const fetch = (_: string, { signal }: RequestInit) =>
      new Promise<Response>((_, reject) => {
        const end = () => reject(signal!.reason)
        if (signal!.aborted) end()
        else signal!.addEventListener('abort', end)
      })
    const slow = open(elsewhere, { fetch, timeoutMs: 1 }).vault
    await expect(slow.fetch(call)).rejects.toMatchObject({ code: 'timeout' })
    const gone = AbortSignal.abort(new Error('no longer wanted'))
    await expect(slow.fetch({ ...call, signal: gone })).rejects.toThrow('no longer wanted')
  })

  test.each([
    [
      { executorToken: 'a\nb' },
      'executorToken: must be printable ASCII without spaces, the same as SKERRY_EXECUTOR_TOKEN of the executor',
    ],
    [
      { executorToken: '' },
      'executorToken: must be printable ASCII without spaces, the same as SKERRY_EXECUTOR_TOKEN of the executor',
    ],
    [
      { executorUrl: 'executor.example.com' },
      'executorUrl: must be an absolute URL, such as https://skerry.example.com',
    ],
    [{ executorUrl: 'http://executor.example.com' }, 'executorUrl: http:// would send the credential unencrypted'],
    [{ baseUrl: 'skerry.example.com' }, 'baseUrl: must be an absolute URL, such as https://skerry.example.com'],
    [{ key: 'skx_of-the-executor' }, 'key: must be a platform key of the vault project (skv_...)'],
  ])('is not called with an invalid setting, and the error names the setting', (more, message) => {
    expect(() => open(() => new Response(), more)).toThrow(message)
  })
})
