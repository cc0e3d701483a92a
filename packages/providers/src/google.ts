import { createPrivateKey } from 'node:crypto'
import { JWT } from 'google-auth-library'
import { type Outbound, OutboundError, type OutboundRequest } from './outbound.ts'
import { errorTextOf, fromOutbound, ProviderError } from './provider-error.ts'

// The signed token exchange of Google’s service accounts (RFC 7523).

/** The scope of a token. It does not restrict the token: the roles of the account decide what the token may do. */
export const everything = 'https://www.googleapis.com/auth/cloud-platform'
const answerMs = 10_000

export interface ServiceAccountKey {
  client_email: string
  private_key: string
  private_key_id: string
}

/**
 * Reads the key of a service account from its file. Ignores its `token_uri`, because the key would then decide where
 * its own signature is sent.
 * @param what the name of the credential in error messages
 */
export function readServiceAccountKey(credential: string, what: string): ServiceAccountKey {
  const refuse = (why: string) => new ProviderError('invalid', `${what}: ${why}`)
  let key: Record<string, unknown> | null
  try {
    key = JSON.parse(credential)
  } catch {
    throw refuse('is not JSON')
  }
  const { type, client_email, private_key, private_key_id, universe_domain = 'googleapis.com' } = key ?? {}
  if (type !== 'service_account') throw refuse('is not the key of a service account')
  if (universe_domain !== 'googleapis.com') throw refuse('must be of the universe googleapis.com')
  if (typeof client_email !== 'string' || typeof private_key !== 'string' || typeof private_key_id !== 'string')
    throw refuse('has no client_email, private_key or private_key_id')
  try {
    createPrivateKey(private_key)
  } catch {
    throw refuse('its private_key cannot be read')
  }
  return { client_email, private_key, private_key_id }
}

/**
 * Fetches an access token of the service account.
 * @param provider the tag whose calls the operator may redirect
 */
export async function accessToken(key: ServiceAccountKey, outbound: Outbound, provider: string): Promise<string> {
  let broken: OutboundError | undefined
  const client = new JWT({
    email: key.client_email,
    key: key.private_key,
    keyId: key.private_key_id,
    scopes: [everything],
    transporterOptions: {
      fetchImplementation: fetchOn(outbound, provider, (error) => {
        broken = error
      }),
    },
  })
  try {
    const { token } = await client.getAccessToken()
    if (!token) throw new ProviderError('failed', 'the answer contains no access token')
    return token
  } catch (error) {
    if (error instanceof ProviderError) throw error
    if (broken) throw fromOutbound(broken)
    const { status } = error as { status?: number }
    const errorText = errorTextOf(oauthErrorOf(error), [key.private_key]) ?? 'refused'
    throw new ProviderError(status !== undefined && status < 500 ? 'denied' : 'failed', `token exchange: ${errorText}`)
  }
}

/** Reads the OAuth error of an answer (RFC 6749, section 5.2), or the message of the library if there is none. */
function oauthErrorOf(error: unknown): string {
  const { response, message = '' } = error as { response?: { data?: unknown }; message?: string }
  const { error: code, error_description } = (response?.data ?? {}) as { error?: unknown; error_description?: unknown }
  const texts = [code, error_description].filter((part) => typeof part === 'string')
  return texts.length === 0 ? message : texts.join(': ')
}

type Fetch = NonNullable<NonNullable<ConstructorParameters<typeof JWT>[0]>['transporterOptions']>['fetchImplementation']

/** The `fetch` that the library uses. The library only sends the exchange of the signed assertion. */
function fetchOn(outbound: Outbound, provider: string, onFailure: (error: OutboundError) => void): Fetch {
  let silent: OutboundError | undefined
  return async (input, init = {}) => {
    // After a timeout, the library would try twice more and wait as long each time.
    if (silent) throw silent
    // The library leaves the content type of a form to `fetch`. Only the finished request has that header.
    const request = new Request(input, init)
    const url = new URL(request.url)
    const answer = await outbound
      .send({
        method: request.method as OutboundRequest['method'],
        url: `${outbound.origin(provider, url.origin)}${url.pathname}`,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
        timeoutMs: outbound.answerMs ?? answerMs,
      })
      .catch((error: unknown) => {
        if (error instanceof OutboundError) onFailure(error)
        if (error instanceof OutboundError && error.reason === 'timeout') silent = error
        throw error
      })
    return new Response(Buffer.from(answer.body), { status: answer.status, headers: { ...answer.headers } })
  }
}
