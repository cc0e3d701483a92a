import type { Executor } from '../executor.ts'
import { fail } from '../http/refusal.ts'
import { answer, type Call } from '../http/server.ts'
import { type Account, digestOf } from '../oauth/id-token.ts'
import { verify } from './session.ts'

/** Starts a sign-in: returns the address to which the Connect page sends the person. */
export async function start(executor: Executor, { body }: Call) {
  const session = await verify(executor, body.claimToken, 'oauth2')
  const providerId = session.provider.id
  const client = executor.oauth.get(providerId)
  if (!client) throw fail('not_allowed', `the executor’s settings have no provider ${providerId}`)
  const { authorizationUrl, state, codeVerifier } = await client.begin().catch((error) => {
    throw failed(executor, providerId, error)
  })
  executor.flows.begin({ sessionId: session.id, providerId, state, codeVerifier })
  return answer({ authorizationUrl })
}

/**
 * Handles a browser that a provider sends back. Nothing is redeemed here, because somebody may have sent another person
 * a link to the provider. Only the page with the session's claim token can finish.
 */
export function callback(executor: Executor, { url }: Call) {
  const handle = executor.flows.returned(url.searchParams.get('state') ?? '', url)
  if (handle === undefined) return { location: `${executor.connectUrl}/#r=failed` }
  if (url.searchParams.get('error') === 'access_denied') return { location: `${executor.connectUrl}/#r=denied` }
  return { location: `${executor.connectUrl}/#r=finish&f=${handle}` }
}

/** Finishes a sign-in. The page to which the browser came back proves that it also started the sign-in. */
export async function finish(executor: Executor, { body }: Call) {
  const { claimToken, flow: handle } = body
  const session = await verify(executor, claimToken, 'oauth2')
  const returned = typeof handle === 'string' ? executor.flows.take(handle) : undefined
  if (returned?.flow.sessionId !== session.id) throw fail('not_found', 'this session has no such sign-in')
  const { flow, url } = returned
  const client = executor.oauth.get(flow.providerId)
  if (!client) throw fail('not_allowed', `the executor’s settings have no provider ${flow.providerId}`)
  const { tokens, account } = await client.redeem(url, flow).catch((error) => {
    throw failed(executor, flow.providerId, error)
  })
  const revision = session.slots.find(({ slot }) => slot === 'oauth2')?.revision ?? 1
  const { projectId, connectionId } = session
  const place = { projectId, connectionId, providerId: flow.providerId, slot: 'oauth2', revision } as const
  const sealed = await executor.credentials.seal(JSON.stringify(tokens), place)
  const params = { connectSessionId: session.id }
  const slots = [{ slot: place.slot, revision, ...sealed }]
  return answer(await executor.server.complete({ params, body: { slots, ...namesOf(account, connectionId) } }))
}

/** The facts about the account that the server may know. */
function namesOf(account: Account | null, connectionId: string) {
  if (account === null) return {}
  const accountDigest = digestOf(account, connectionId)
  return account.label === null ? { accountDigest } : { accountDigest, accountLabel: account.label }
}

/** Logs only the error code of a provider, because its error text may repeat what was sent to it. */
function failed({ warn }: Executor, providerId: string, error: unknown) {
  const { code, error: answered } = (error ?? {}) as { code?: unknown; error?: unknown }
  warn(`${providerId}: ${String(answered ?? code ?? 'no answer')}`)
  return fail('provider_failed', 'the provider did not complete the sign-in')
}
