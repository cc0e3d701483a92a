import { fingerprint } from '@skerry/crypto/digest'
import { isSafeUrl, type NamedExecutor } from './link.ts'
import { request, Unreachable } from './request.ts'
import type { ConnectSession } from './server.ts'

/** The executor or the server presents another key than the link names. Nothing may be encrypted to it. */
export class WrongKey extends Error {
  constructor() {
    super('the key is not the one that the link names')
    this.name = 'WrongKey'
  }
}

/** The executor of the product was disabled, and the product has no other executor yet. */
export class NoExecutor extends Error {
  constructor() {
    super('the product has no active executor')
    this.name = 'NoExecutor'
  }
}

interface LiveView {
  /** The address of a window into the executor's browser, where the person signs in to the site. */
  liveViewUrl: string
  expiresAt: string
}

/** Calls the executor that a link names, over CORS. Each call can throw Refused or Unreachable. */
export interface Executors {
  /**
   * Asks the executor for its keys, and finds the key that the link names by its thumbprint.
   *
   * @returns JWK JSON of the key. @throws WrongKey if no key matches, or if the executor reports another origin.
   */
  identify(executor: NamedExecutor): Promise<string>
  /** @returns the URL where the person agrees at the provider. */
  startOAuth(executor: NamedExecutor, claimToken: string): Promise<string>
  /** Finishes OAuth when the provider has sent the person back. Only the page that started it has the claim token. */
  finishOAuth(executor: NamedExecutor, claimToken: string, flow: string): Promise<void>
  startBrowser(executor: NamedExecutor, claimToken: string): Promise<LiveView>
  /** @throws Refused 409 while nobody is signed in to the site. */
  finishBrowser(executor: NamedExecutor, claimToken: string): Promise<void>
}

export const executors: Executors = {
  async identify({ origin, thumbprint }) {
    const answer = (await request(origin, '/connect/identity', { method: 'GET' })) as {
      origin?: unknown
      keys?: { jwk?: unknown }[]
    }
    const found = await findKey(Array.isArray(answer?.keys) ? answer.keys : [], thumbprint)
    if (answer?.origin !== origin || found === undefined) throw new WrongKey()
    return found
  },
  async startOAuth({ origin }, claimToken) {
    const answer = await request(origin, '/connect/oauth/start', { method: 'POST', body: { claimToken } })
    return readUrl(origin, (answer as { authorizationUrl?: unknown }).authorizationUrl)
  },
  async finishOAuth({ origin }, claimToken, flow) {
    await request(origin, '/connect/oauth/finish', { method: 'POST', body: { claimToken, flow } })
  },
  async startBrowser({ origin }, claimToken) {
    const answer = await request(origin, '/connect/browser/start', { method: 'POST', body: { claimToken } })
    const { liveViewUrl, expiresAt } = answer as { liveViewUrl?: unknown; expiresAt?: unknown }
    return { liveViewUrl: readUrl(origin, liveViewUrl), expiresAt: String(expiresAt) }
  },
  async finishBrowser({ origin }, claimToken) {
    await request(origin, '/connect/browser/finish', { method: 'POST', body: { claimToken } })
  },
}

/**
 * Refuses a session without an executor, and a session whose executor or keys differ from those that the link names.
 */
export async function checkSession(session: ConnectSession, executor: NamedExecutor): Promise<void> {
  if (session.executorOrigin === null) throw new NoExecutor()
  if (session.executorOrigin !== executor.origin) throw new WrongKey()
  if ((await findKey(session.keys, executor.thumbprint)) === undefined) throw new WrongKey()
}

async function findKey(keys: readonly { jwk?: unknown }[], thumbprint: string): Promise<string | undefined> {
  for (const { jwk } of keys) {
    const text = JSON.stringify(jwk) ?? ''
    // An invalid key has no fingerprint, so it never matches.
    if ((await fingerprint(text).catch(() => '')) === thumbprint) return text
  }
  return undefined
}

function readUrl(origin: string, given: unknown): string {
  if (typeof given !== 'string' || !isSafeUrl(given)) throw new Unreachable(origin)
  return given
}
