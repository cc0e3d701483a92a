import type { VaultPlace } from '@skerry/contract/vault/facts'
import { fingerprint } from '@skerry/crypto/digest'
import { generateKeyPair, type PrivateKey } from '@skerry/crypto/keys'
import { openCredential } from '@skerry/crypto/vault'
import { beforeAll, expect, test } from 'vitest'
import { type Executors, WrongKey } from './executor.ts'
import { createFlow, type Screen } from './flow.ts'
import type { Fragment, NamedExecutor } from './link.ts'
import { Refused, Unreachable } from './request.ts'
import type { Capture, ConnectSession, ManageSession, Server } from './server.ts'
import type { Claim } from './tab-storage.ts'

const origin = 'https://vault.example.com'
const returnUrl = 'https://app.example.com/done'
const link = (executor: NamedExecutor | null): Fragment => ({ kind: 'link', token: 'vct_1', executor })

let privateKey: PrivateKey
let publicKeyJwk: string
let named: NamedExecutor
let pending: ConnectSession

beforeAll(async () => {
  ;({ privateKey, publicKeyJwk } = await generateKeyPair())
  named = { origin: 'https://executor.example.com', thumbprint: await fingerprint(publicKeyJwk) }
  pending = {
    ...{ id: 'vcs_1', projectId: 'vpj_1', connectionId: 'vcn_1', purpose: 'connect', status: 'pending' },
    display: { name: 'Northwind', logoUrl: null, accent: null, returnOrigins: ['https://app.example.com'] },
    provider: {
      ...{ id: 'acme', displayName: 'Acme', method: 'api_key', slots: ['api_key'] },
      ...{ consentSummary: 'Reads.', consentVersion: 1 },
    },
    ...{ method: 'api_key', slots: [{ slot: 'api_key', revision: 3 }], consentedAt: null, returnUrl },
    keys: [{ jwk: JSON.parse(publicKeyJwk), thumbprint: named.thumbprint }],
    ...{ executorOrigin: named.origin, expiresAt: '2026-01-01T00:00:00.000Z' },
  } as ConnectSession
})

interface Fakes {
  server?: Partial<Server>
  executors?: Partial<Executors>
  kept?: Claim | null
}

/** A page with two fake servers; `session` is the current session of the server. */
function stage({ server = {}, executors = {}, kept = null }: Fakes = {}) {
  const screens: Screen[] = []
  const gone: string[] = []
  const at = { session: pending, kept }
  const never = async (): Promise<never> => {
    throw new Error('not expected')
  }
  const flow = createFlow({
    server: {
      claim: async () => ({ claimToken: 'vcl_1', session: at.session }),
      session: async () => at.session,
      consent: async () => {
        at.session = { ...at.session, consentedAt: '2026-01-01T00:00:00.000Z' }
        return at.session
      },
      cancel: async () => {
        at.session = { ...at.session, status: 'cancelled' }
        return at.session
      },
      ...{ submit: never, manage: never, revoke: never, ...server },
    },
    executors: {
      identify: async () => publicKeyJwk,
      ...{ startOAuth: never, finishOAuth: never, startBrowser: never, finishBrowser: never, ...executors },
    },
    tabStorage: {
      read: () => at.kept,
      write: (claim) => {
        at.kept = claim
      },
      clear: () => {
        at.kept = null
      },
    },
    origin,
    show: (screen) => screens.push(screen),
    go: (url) => gone.push(url),
  })
  const last = () => screens.at(-1) as Screen
  return { flow, last, at, gone }
}

const refuse =
  (status: number, message = '') =>
  async () => {
    throw new Refused(status, message)
  }
const lose = (from: string) => async () => {
  throw new Unreachable(from)
}

test('the person agrees first, and the submitted credential opens as this revision with the key of the link', async () => {
  const submitted: Capture[] = []
  const submit = async (_: string, capture: Capture) => {
    submitted.push(capture)
    return { connectionId: 'vcn_1', returnUrl }
  }
  const { flow, last, at, gone } = stage({ server: { submit } })
  await flow.open(link(named))
  expect(last()).toMatchObject({ at: 'agree', notice: null })
  await flow.agree()
  expect(last()).toMatchObject({ at: 'capture' })
  await flow.submit('api_key', 'sk-1')
  expect(last()).toMatchObject({ at: 'done' })
  const [sealed] = submitted[0]?.slots ?? []
  expect(sealed).toMatchObject({ slot: 'api_key', revision: 3, keyThumbprint: named.thumbprint })
  const place: VaultPlace = {
    ...{ projectId: 'vpj_1', connectionId: 'vcn_1', providerId: 'acme' },
    ...{ slot: 'api_key', revision: 3 },
  }
  expect(sealed && (await openCredential(sealed, place, privateKey))).toBe('sk-1')
  expect(at.kept).toBeNull()
  await flow.leave()
  expect(gone).toEqual([`${returnUrl}?vault_outcome=completed`])
})

test('a person who cancels ends the session, and the return URL tells the product the outcome', async () => {
  const { flow, at, gone } = stage()
  at.session = { ...pending, returnUrl: `${returnUrl}?a=1#top` }
  await flow.open(link(named))
  await flow.agree()
  await flow.leave()
  expect([at.session.status, gone]).toEqual(['cancelled', [`${returnUrl}?a=1&vault_outcome=cancelled#top`]])

  const alone = stage()
  alone.at.session = { ...pending, returnUrl: null }
  await alone.flow.open(link(named))
  await alone.flow.leave()
  expect([alone.at.session.status, alone.last()]).toMatchObject(['cancelled', { at: 'end', end: 'left' }])
  const offline = stage({ server: { cancel: lose(origin) } })
  await offline.flow.open(link(named))
  await offline.flow.leave()
  expect(offline.gone).toEqual([`${returnUrl}?vault_outcome=cancelled`])

  const expired = stage()
  expired.at.session = { ...pending, status: 'expired' }
  await expired.flow.open(link(named))
  await expired.flow.leave()
  expect([expired.at.session.status, expired.gone]).toEqual(['expired', [`${returnUrl}?vault_outcome=expired`]])
})

test.each([
  [404, 'no such link', 'unknown'],
  [409, 'this link was already opened', 'used'],
  [409, 'the session is expired', 'expired'],
  [409, 'the session is cancelled', 'cancelled'],
  [409, 'the project is disabled', 'paused'],
  [429, 'slow down', 'busy'],
])('a claim that is refused with %i, “%s”, ends as %s', async (status, message, end) => {
  const { flow, last } = stage({ server: { claim: refuse(status, message) } })
  await flow.open(link(named))
  expect(last()).toMatchObject({ at: 'end', end })
})

test.each([
  ['completed', { at: 'done' }],
  ['expired', { at: 'end', end: 'expired' }],
  ['cancelled', { at: 'end', end: 'cancelled' }],
] as const)('a tab that returns to a session that is %s shows it and forgets it', async (status, shown) => {
  const { flow, last, at } = stage({ kept: { claimToken: 'vcl_1', executor: named } })
  at.session = { ...pending, status }
  await flow.open({ kind: 'none' })
  expect(last()).toMatchObject(shown)
  expect(at.kept).toBeNull()
})

test('without a link and without a stored claim, the page asks the server nothing', async () => {
  const { flow, last } = stage({ server: { session: lose(origin) } })
  await flow.open({ kind: 'none' })
  expect(last()).toMatchObject({ end: 'broken' })
  await flow.open({ kind: 'return', outcome: 'denied' })
  expect(last()).toMatchObject({ end: 'returned' })
})

test('an executor with another key is refused before the link is used up', async () => {
  const identify = async () => {
    throw new WrongKey()
  }
  const { flow, last } = stage({ executors: { identify }, server: { claim: lose(origin) } })
  await flow.open(link(named))
  expect(last()).toMatchObject({ end: 'wrong_key' })
})

test('a server that names another executor, or other keys than the link, gets nothing', async () => {
  const other = JSON.parse((await generateKeyPair()).publicKeyJwk)
  for (const change of [
    { executorOrigin: 'https://evil.example' },
    { keys: [] },
    { keys: [{ jwk: other, thumbprint: named.thumbprint }] },
  ]) {
    const { flow, last, at } = stage()
    at.session = { ...pending, ...change }
    await flow.open(link(named))
    expect(last()).toMatchObject({ at: 'end', end: 'wrong_key' })
  }
})

test('a link whose executor was disabled leads to an error screen', async () => {
  const { flow, last, at } = stage()
  at.session = { ...pending, executorOrigin: null, keys: [] }
  await flow.open(link(named))
  expect(last()).toMatchObject({ at: 'end', end: 'no_executor' })
  expect(at.kept).toBeNull()
})

test.each([
  ['the executor', 'https://executor.example.com', 'executor_lost'],
  ['the server', origin, 'lost'],
])('where %s cannot be reached, the same link can be tried again', async (_, lost, end) => {
  const fakes = lost === origin ? { server: { claim: lose(lost) } } : { executors: { identify: lose(lost) } }
  const { flow, last } = stage(fakes)
  await flow.open(link(named))
  expect(last()).toMatchObject({ end })
})

test('the person must agree again to a changed text, and a provider that is no longer offered ends the flow', async () => {
  const { flow, last, at } = stage({ server: { consent: refuse(409) } })
  await flow.open(link(named))
  at.session = { ...pending, provider: { ...pending.provider, consentVersion: 2 } }
  await flow.agree()
  expect(last()).toMatchObject({ at: 'agree', notice: 'changed', session: { provider: { consentVersion: 2 } } })
  await flow.agree()
  expect(last()).toMatchObject({ at: 'end', end: 'paused' })
})

test('after a refused submission the page shows the new state of the session, and an expired claim ends the flow', async () => {
  const { flow, last, at } = stage({ server: { submit: refuse(409) } })
  await flow.open(link(named))
  await flow.agree()
  await flow.submit('api_key', 'sk-1')
  expect(last()).toMatchObject({ at: 'agree', notice: 'changed' })
  at.session = { ...at.session, status: 'cancelled' }
  await flow.submit('api_key', 'sk-1')
  expect(last()).toMatchObject({ at: 'end', end: 'cancelled' })
  const late = stage({ server: { submit: refuse(401) } })
  await late.flow.open(link(named))
  await late.flow.submit('api_key', 'sk-1')
  expect(late.last()).toMatchObject({ end: 'expired' })
})

test('the page sends nobody to an origin that the product has not registered', async () => {
  for (const wrong of ['https://evil.example/', 'javascript:alert(1)', 'https://app.example.com@evil.example/']) {
    const { flow, last, at, gone } = stage()
    at.session = { ...pending, returnUrl: wrong }
    await flow.open(link(named))
    await flow.leave()
    expect([gone, last()]).toMatchObject([[], { at: 'end', end: 'left' }])
  }
})

test('a failed return from a provider shows the reason', async () => {
  const executors = { finishOAuth: refuse(404) }
  for (const back of [{ outcome: 'denied' }, { outcome: 'failed' }, { outcome: 'finish', flow: 'other' }] as const) {
    const { flow, last, at } = stage({ executors, kept: { claimToken: 'vcl_1', executor: named } })
    at.session = { ...pending, consentedAt: '2026-01-01T00:00:00.000Z' }
    await flow.open({ kind: 'return', ...back })
    const notice = back.outcome === 'denied' ? 'denied' : 'failed'
    expect(last()).toMatchObject({ at: 'capture', notice })
  }
})

test('a repair with another account shows that it is another account', async () => {
  const finishOAuth = async () => {
    throw new Refused(409, 'another account was connected before')
  }
  const { flow, last, at } = stage({ executors: { finishOAuth }, kept: { claimToken: 'vcl_1', executor: named } })
  at.session = { ...pending, consentedAt: '2026-01-01T00:00:00.000Z' }
  await flow.open({ kind: 'return', outcome: 'finish', flow: 'flow-1' })
  expect(last()).toMatchObject({ at: 'capture', notice: 'other_account' })
})

test('a sign-in that could not be reported to the server is not connected, and can be repeated', async () => {
  const isAway = { server: true }
  const agreed = { ...pending, consentedAt: '2026-01-01T00:00:00.000Z' }
  let asked = 0
  const session = async () => {
    // The server is available until the executor asks it to complete the session.
    if (++asked > 1 && isAway.server) throw new Unreachable(origin)
    return agreed
  }
  const kept = { claimToken: 'vcl_1', executor: named }
  const { flow, last, at } = stage({ server: { session }, executors: { finishOAuth: refuse(503) }, kept })
  const back = { kind: 'return', outcome: 'finish', flow: 'flow-1' } as const
  await flow.open(back)
  expect([last(), at.kept]).toMatchObject([{ at: 'end', end: 'lost' }, kept])
  isAway.server = false
  await flow.open(back)
  expect(last()).toMatchObject({ at: 'capture', notice: 'failed' })
})

test('a sign-in that was completed without the executor’s knowledge is shown as done', async () => {
  const finishOAuth = async () => {
    own.at.session = { ...own.at.session, status: 'completed' }
    throw new Refused(503, '')
  }
  const own = stage({ executors: { finishOAuth }, kept: { claimToken: 'vcl_1', executor: named } })
  await own.flow.open({ kind: 'return', outcome: 'finish', flow: 'flow-1' })
  expect([own.last(), own.at.kept]).toMatchObject([{ at: 'done' }, null])
})

test('only the tab that started at a provider finishes the sign-in', async () => {
  const finished: unknown[] = []
  const finishOAuth = async (...given: unknown[]) => {
    finished.push(given)
    own.at.session = { ...pending, status: 'completed' }
  }
  const own = stage({ executors: { finishOAuth }, kept: { claimToken: 'vcl_1', executor: named } })
  await own.flow.open({ kind: 'return', outcome: 'finish', flow: 'flow-1' })
  expect(finished).toEqual([[named, 'vcl_1', 'flow-1']])
  expect(own.last()).toMatchObject({ at: 'done' })
  const other = stage({ executors: { finishOAuth } })
  await other.flow.open({ kind: 'return', outcome: 'finish', flow: 'flow-1' })
  expect([other.last(), finished.length]).toMatchObject([{ end: 'returned' }, 1])
})

test('a manage link shows the accounts and revokes them with its claim', async () => {
  const view = { ...pending, purpose: 'manage', connections: [] } as unknown as ManageSession
  const revoked: string[] = []
  const server: Partial<Server> = {
    claim: async () => ({ claimToken: 'vcl_2', session: view }),
    revoke: async (_, id) => {
      revoked.push(id)
      return view
    },
  }
  const { flow, last, at } = stage({ server })
  await flow.open(link(null))
  expect(last()).toMatchObject({ at: 'manage' })
  await flow.revoke('vcn_1')
  expect(revoked).toEqual(['vcn_1'])
  expect(at.kept).toEqual({ claimToken: 'vcl_2', executor: null })
})
