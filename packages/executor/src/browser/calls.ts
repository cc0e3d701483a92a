import { limits } from '@skerry/contract/limits'
import { flag, given, needed, object, oneOf, text, whole } from '@skerry/proxy/config/read'
import { RefusedError } from '@skerry/sdk/errors'
import type { Site } from '../config/site.ts'
import type { Executor } from '../executor.ts'
import { fail } from '../http/refusal.ts'
import { answer, type Call } from '../http/server.ts'
import { askPerson } from '../live/view.ts'
import { sessionIdOf, targetOf } from './cdp/pages.ts'
import { type Holder, type Lease, newLeaseId } from './leases.ts'
import { fillIn, valueFor } from './login.ts'

const openBody = object({
  userRef: needed(text),
  connectionId: needed(text),
  keepAliveMs: given(whole(10_000, 30 * 60_000), 5 * 60_000),
})

/** Opens a browser with the stored session of a connection, for the requested time. */
export async function open(executor: Executor, { body, signal }: Call) {
  const { userRef, connectionId, keepAliveMs } = openBody(body, '')
  const { credentials, leases } = executor
  const { projectId, providerId, slots } = await credentials.usable(connectionId, userRef)
  const site = siteOf(executor, providerId)
  const has = (wanted: string) => slots.some(({ slot }) => slot === wanted)
  const session = has('session') ? await credentials.open(connectionId, 'session') : undefined
  const connection = { id: connectionId, userRef, providerId }
  const holder: Holder = { connection, projectId, revision: session?.revision ?? 0 }
  const wanted = { holder, site, state: session?.text, ttlMs: keepAliveMs }
  const lease = await leases.begin(newLeaseId(), wanted)
  try {
    const signedIn = await lease.browser.enter()
    // Without a stored login, only the person can sign in again.
    if (!signedIn && !has('login')) await executor.refresher.report(connectionId, 'session_signed_out')
    signal.throwIfAborted()
    const target = await targetOf(lease.browser.page())
    const expiresAt = lease.expiresAt.toISOString()
    return answer(
      { leaseId: lease.id, sessionId: sessionIdOf(target), targetId: target.targetId, expiresAt, signedIn },
      201,
    )
  } catch (error) {
    await leases.end(lease)
    throw error
  }
}

const fillBody = object({
  userRef: needed(text),
  leaseId: needed(text),
  field: needed(oneOf('username', 'password', 'totp')),
})

/** Fills a field of the sign-in page with a stored value of the person, which the caller never sees. */
export async function fill(executor: Executor, { body }: Call) {
  const { userRef, leaseId, field } = fillBody(body, '')
  const lease = executor.leases.of(leaseId, userRef)
  if (lease.view) throw personIsThere()
  const { browser, holder } = lease
  await fillIn(browser.page(), browser.site, field, async () => {
    const { text } = await executor.credentials.open(holder.connection.id, 'login')
    return valueFor(text, field, executor.now())
  })
  return answer({ filled: true })
}

const releaseBody = object({ userRef: needed(text), leaseId: needed(text), save: given(flag, null) })

/**
 * Ends the browser. Stores its session unless `save` is false, because sites replace their cookies during use.
 * Published clients expect this default. A session is stored only if the site accepts it as signed in.
 */
export async function release(executor: Executor, { body }: Call) {
  const { userRef, leaseId, save } = releaseBody(body, '')
  const lease = executor.leases.of(leaseId, userRef)
  const keeps = save ?? lease.browser.site.slots.includes('session')
  const outcome = keeps ? await keep(executor, lease) : { saved: false, signedIn: null }
  await executor.leases.end(lease)
  return answer(outcome)
}

async function keep(executor: Executor, { browser, holder }: Lease & { holder: Holder }) {
  const { connection, projectId, revision } = holder
  if (!browser.site.slots.includes('session')) throw fail('not_allowed', 'the settings of this site keep no session')
  const state = await browser.state()
  if (state === null) return { saved: false, signedIn: false }
  checkSize(state)
  const { id: connectionId, providerId } = connection
  const params = { vaultConnectionId: connectionId }
  const place = { projectId, connectionId, providerId, slot: 'session', revision: revision + 1 } as const
  const { credentials, server } = executor
  try {
    await credentials.write(place, await credentials.seal(state, place))
  } catch (error) {
    if (!(error instanceof RefusedError) || error.code !== 'conflict') throw error
    const { connection: now } = await server.connection({ params })
    if (now.status === 'revoked') throw fail('connection_revoked', 'the connection was revoked')
    // Somebody else stored another session first, and theirs is the newer one.
    return { saved: false, signedIn: true }
  }
  // A person may have repaired the connection in this browser. A connection that stayed active needs no change.
  const { connection: now } = await server.connection({ params })
  if (now.status === 'reauth_required') await server.setStatus({ params, body: { status: 'active' } })
  return { saved: true, signedIn: true }
}

/** @throws VaultRefusal for a state that would not fit into a slot after encryption. */
export function checkSize(state: string): void {
  const room = limits.ciphertextBytes * 0.7
  if (Buffer.byteLength(state) > room)
    throw fail('body_too_large', 'the browser data of the site is too large to be stored')
}

const leaseBody = object({ userRef: needed(text), leaseId: needed(text) })

/** Asks the person to sign in, in a window that shows them this browser. */
export async function reauth(executor: Executor, { body }: Call) {
  const { userRef, leaseId } = leaseBody(body, '')
  const lease = executor.leases.of(leaseId, userRef)
  const asked = await askPerson(executor, lease)
  await executor.refresher.report(lease.holder.connection.id, 'reauth_requested')
  return answer(asked)
}

const personIsThere = () => fail('conflict', 'a person is signing in with this browser')

/** @throws VaultRefusal `not_allowed`. */
export function siteOf({ config }: Executor, providerId: string): Site {
  const site = config.sites.find(({ id }) => id === providerId)
  if (!site) throw fail('not_allowed', `the executor’s settings have no site ${providerId}`)
  return site
}
