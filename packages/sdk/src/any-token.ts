import type { PinnedToken } from '@skerry/crypto/directory/pinned-token'
import { type ParsedToken, parseToken } from '@skerry/crypto/token'

/** A token, with the pin and the environment that it may carry. */
export type AnyToken = ParsedToken & Partial<PinnedToken>

/**
 * Parses a token with a pin or without one. Only a token with a pin has a dot.
 *
 * @throws CryptoError `malformed_token`, `malformed_pin`.
 * @example const { bearer, pin } = await parseAnyToken(token)
 */
export const parseAnyToken = async (token: string): Promise<AnyToken> =>
  typeof token === 'string' && token.includes('.')
    ? (await import('@skerry/crypto/directory/pinned-token')).parsePinnedToken(token)
    : parseToken(token)
