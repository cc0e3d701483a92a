import { createHash } from 'node:crypto'
import { limits } from '@skerry/contract/limits'
import { displayNamePattern } from '@skerry/contract/patterns'

/** The account at which a person signed in, as the provider's id token names it. */
export interface Account {
  issuer: string
  subject: string
  /** A text for people: an e-mail address, a user name or a name. Null if the token has none. */
  label: string | null
}

/**
 * Reads the account from an id token. The token comes from the token endpoint itself over TLS, so its signature proves
 * nothing more (OpenID Connect Core 3.1.3.7).
 *
 * @returns null without a token, or for a token of another client. The sign-in continues, and the account has no name.
 */
export function accountOf(idToken: unknown, clientId: string): Account | null {
  const claims = claimsOf(idToken)
  const { iss, sub, aud, email, preferred_username, name } = claims
  if (typeof iss !== 'string' || typeof sub !== 'string' || ![aud].flat().includes(clientId)) return null
  const label = [email, preferred_username, name].find(isLabel)
  return { issuer: iss, subject: sub, label: label ?? null }
}

/**
 * The digest tells the server whether two sign-ins used the same account. It reveals neither the account nor who else
 * uses it.
 */
export const digestOf = ({ issuer, subject }: Account, connectionId: string): string =>
  createHash('sha256')
    .update(JSON.stringify(['vault-account', connectionId, issuer, subject]))
    .digest('base64url')

function claimsOf(idToken: unknown): Record<string, unknown> {
  const [, payload = ''] = typeof idToken === 'string' ? idToken.split('.') : []
  try {
    return (JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown> | null) ?? {}
  } catch {
    return {}
  }
}

const pattern = new RegExp(displayNamePattern, 'u')
const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= limits.displayNameCharacters && pattern.test(value)
