import { CryptoError } from '../errors.ts'
import { type ParsedToken, parseToken } from '../token.ts'
import { formatPin, parsePin, type RootPin } from './pin.ts'
import { appEnvironmentPattern } from './shape.ts'

/** A service token with the pin that it carries. */
export interface PinnedToken extends ParsedToken {
  pin: RootPin
  /** The environment that the token is bound to, as `app/env`; null for a token that is bound to none. */
  environment: string | null
}

/**
 * Appends a pin to a service token: `<token>.<pin>`, or `<token>.<pin>.<app>/<env>`. The whole text is a credential.
 *
 * @throws CryptoError `malformed_token` for a token of the `classic` format, and for a malformed environment.
 * @example const pinned = await formatPinnedToken(token, { root: rootDocument.hash, leastHead: 1 }, 'shop/production')
 */
export async function formatPinnedToken(token: string, pin: RootPin, environment: string | null): Promise<string> {
  const text = [token, formatPin(pin), ...(environment === null ? [] : [environment])].join('.')
  await parsePinnedToken(text)
  return text
}

/**
 * Parses a token with a pin. Only `bearer` goes to the server: nothing after the first dot of the token is in it.
 *
 * `parseToken` refuses a token with a pin, so that no program uses such a token without checking the pin.
 *
 * @throws CryptoError `malformed_token`, `malformed_pin`.
 * @example const { bearer, pin, environment } = await parsePinnedToken(token)
 */
export async function parsePinnedToken(text: string): Promise<PinnedToken> {
  const [token = '', pinText, environment = null, ...more] = typeof text === 'string' ? text.split('.') : []
  const parsed = await parseToken(token)
  if (parsed.format !== 'skerry') throw new CryptoError('malformed_token', 'a token of this format carries no pin')
  if (pinText === undefined) throw new CryptoError('malformed_token', 'it has no pin')
  if (more.length > 0 || (environment !== null && !appEnvironmentPattern.test(environment)))
    throw new CryptoError('malformed_token', 'expected an application, a slash and an environment after the pin')
  return { ...parsed, pin: parsePin(pinText), environment }
}
