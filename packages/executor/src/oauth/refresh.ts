import type { Client } from '@skerry/sdk/client'
import { RefusedError } from '@skerry/sdk/errors'
import type { Credentials, Opened, Sealed } from '../credentials.ts'
import { fail, type RefusalCode, VaultRefusal } from '../http/refusal.ts'
import { type OAuthClients, refreshFailureOf, type Tokens } from './client.ts'
import type { Entry, Journal, ReauthReason } from './journal.ts'

export interface Refresher {
  /**
   * Returns the access token of a connection. Refreshes it if it expires soon, or if it is the one that the provider
   * refused.
   */
  accessToken(connectionId: string, refused?: string): Promise<string>
  /** Finishes the refreshes that an earlier process left unfinished. */
  recover(): Promise<void>
  report(connectionId: string, reason: ReauthReason): Promise<void>
}

interface RefresherDeps {
  server: Client['vaultExecutor']
  credentials: Credentials
  clients: OAuthClients
  journal: Journal
  now: () => Date
  warn: (message: string) => void
}

/** A token that expires within this time is refreshed before it is used. */
const skewMs = 30_000

/** The server already knows that nobody can use the tokens any more, so nothing is left to finish. */
const told: ReadonlySet<RefusalCode> = new Set(['connection_revoked', 'reauth_required', 'not_found'])

/** Runs one refresh at a time for each connection, however many requests wait for it. */
export function openRefresher(deps: RefresherDeps): Refresher {
  const { credentials, journal, now, warn } = deps
  const running = new Map<string, Promise<string>>()
  const isGood = ({ accessToken, expiresAt }: Tokens, refused?: string) =>
    accessToken !== refused && (expiresAt === null || Date.parse(expiresAt) - skewMs > now().getTime())
  const refreshOnce = (connectionId: string, refused?: string) => {
    const known = running.get(connectionId)
    if (known) return known
    const begun = refreshed(connectionId, refused)
      .catch(async (error) => {
        if (error instanceof VaultRefusal && told.has(error.code)) await journal.end(connectionId)
        throw error
      })
      .finally(() => running.delete(connectionId))
    running.set(connectionId, begun)
    return begun
  }
  const refreshed = async (connectionId: string, refused?: string) => {
    const left = await journal.read(connectionId)
    // Read again, because another refresh may have ended since the caller read it.
    const opened = await credentials.open(connectionId, 'oauth2')
    const tokens = JSON.parse(opened.text) as Tokens
    if (left?.revision === opened.revision) return finish(deps, left, opened)
    if (left) await journal.end(connectionId)
    return isGood(tokens, refused) ? tokens.accessToken : renew(deps, opened, tokens, 'refresh_rejected')
  }
  return {
    async accessToken(connectionId, refused) {
      const tokens = JSON.parse((await credentials.open(connectionId, 'oauth2')).text) as Tokens
      return isGood(tokens, refused) ? tokens.accessToken : refreshOnce(connectionId, refused)
    },
    async recover() {
      for (const connectionId of await journal.open()) {
        await refreshOnce(connectionId).catch((error) => warn(`${connectionId}: ${(error as Error).message}`))
      }
    },
    report: (connectionId, reason) => report(deps, { connectionId, revision: 0, reason }),
  }
}

/**
 * Finishes what a crash or an unreachable server interrupted: an answer to write, a report to send, or an unknown
 * outcome.
 */
async function finish(deps: RefresherDeps, left: Entry, opened: Opened): Promise<string> {
  if (left.reason !== undefined) {
    await report(deps, left)
    throw needsPerson(left.reason)
  }
  const tokens = JSON.parse(opened.text) as Tokens
  // After this failure it is unknown whether the provider has replaced the token. A further request with the old token
  // shows whether it has.
  if (left.sealed === undefined) return renew(deps, opened, tokens, 'refresh_outcome_unknown')
  const place = { ...opened, revision: opened.revision + 1 }
  const text = await deps.credentials.openSealed(left.sealed, place)
  return store(deps, place, JSON.parse(text) as Tokens, left.sealed)
}

/** @param rejected the reason to report if the provider rejects the refresh token */
async function renew(
  deps: RefresherDeps,
  opened: Opened,
  tokens: Tokens,
  rejected: 'refresh_rejected' | 'refresh_outcome_unknown',
): Promise<string> {
  const { journal, clients, credentials, now } = deps
  const { connectionId, revision, providerId } = opened
  const client = clients.get(providerId)
  if (!client) throw fail('not_allowed', `the executor’s settings have no provider ${providerId}`)
  const giveUp = async (reason: ReauthReason) => {
    await report(deps, { connectionId, revision, reason })
    return needsPerson(reason)
  }
  if (tokens.refreshToken === null) throw await giveUp('refresh_token_missing')
  if (tokens.refreshExpiresAt !== null && Date.parse(tokens.refreshExpiresAt) <= now().getTime())
    throw await giveUp('refresh_token_expired')
  await journal.write({ connectionId, revision })
  let next: Tokens
  try {
    next = await client.refresh(tokens)
  } catch (error) {
    const { failure, code } = refreshFailureOf(error)
    if (failure === 'rejected') throw await giveUp(rejected)
    // If the outcome is unknown, the entry stays. A rejection of the next try is then reported as
    // `refresh_outcome_unknown`.
    const isKnown = failure !== 'unknown' && rejected === 'refresh_rejected'
    if (isKnown) await journal.end(connectionId)
    throw fail('provider_failed', `${providerId} did not issue a new token (${code ?? failure})`)
  }
  const place = { ...opened, revision: revision + 1 }
  const sealed = await credentials.seal(JSON.stringify(next), place)
  await journal.write({ connectionId, revision, sealed })
  return store(deps, place, next, sealed)
}

/**
 * Writes an answer of the provider to the server. If the server is unreachable, the next use writes it. The token works
 * until then.
 */
async function store(
  deps: RefresherDeps,
  place: Omit<Opened, 'text'>,
  tokens: Tokens,
  sealed: Sealed,
): Promise<string> {
  const { credentials, journal, warn } = deps
  const { connectionId } = place
  try {
    await credentials.write(place, sealed)
  } catch (error) {
    if (!(error instanceof RefusedError)) {
      warn(`${connectionId}: the server did not accept the new token yet; the executor keeps it and tries again`)
      return tokens.accessToken
    }
    return lost(deps, place, error)
  }
  await journal.end(connectionId)
  return tokens.accessToken
}

/**
 * Handles a refused write: the server has another revision, the connection was revoked, or the server never accepts
 * this write.
 */
async function lost(deps: RefresherDeps, place: Omit<Opened, 'text'>, refused: RefusedError): Promise<string> {
  const { connectionId, revision } = place
  if (refused.code !== 'conflict') {
    await report(deps, { connectionId, revision: revision - 1, reason: 'refresh_write_failed' })
    throw needsPerson('refresh_write_failed')
  }
  await deps.journal.end(connectionId)
  const theirs = await deps.credentials.open(connectionId, 'oauth2')
  return (JSON.parse(theirs.text) as Tokens).accessToken
}

/**
 * Keeps the report until the server has it. A refusal means that the connection is revoked, or already needs its
 * person.
 */
async function report(
  { server, journal, warn }: RefresherDeps,
  entry: Entry & { reason?: ReauthReason },
): Promise<void> {
  const { connectionId, revision, reason } = entry
  if (revision > 0) await journal.write({ connectionId, revision, reason: reason! })
  warn(`${connectionId}: the person must connect again: ${reason}`)
  const params = { vaultConnectionId: connectionId }
  await server.setStatus({ params, body: { status: 'reauth_required', reason: reason! } }).catch((error) => {
    if (!(error instanceof RefusedError)) throw error
  })
  await journal.end(connectionId)
}

const needsPerson = (reason: ReauthReason) => fail('reauth_required', `the person must connect again: ${reason}`)
