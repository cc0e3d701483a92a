import type { Context } from '../../http/context.ts'
import { ownIssuer } from '../../identity/session-tokens.ts'
import { fail } from '../../kernel/errors.ts'
import type { Person } from '../../model/people/users.ts'

/** The built-in sign-in identifies a person by an e-mail address that a mail has proven. */
export function personOfAddress(address: string): Person {
  const email = address.toLowerCase()
  return { issuer: ownIssuer, subject: email, email, verifiedEmail: email, name: null }
}

export function needBuiltIn({ oidc }: Context): void {
  if (oidc) throw fail('conflict', 'people sign in to this server at an external issuer')
}
