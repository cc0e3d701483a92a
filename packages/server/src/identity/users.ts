import { limits } from '@skerry/contract/limits'
import { Email } from '@skerry/contract/schema'
import type { JWTPayload } from 'jose'
import type { Tx } from '../db/database.ts'
import { type Origin, transactWithAudit } from '../kernel/audit.ts'
import { instant, newId } from '../kernel/context.ts'
import { fail } from '../kernel/errors.ts'
import type { UserPrincipal } from '../kernel/principal.ts'
import { type Person, upsertUser } from '../model/people/users.ts'
import type { Audit } from './audit-user.ts'
import type { IdentityContext } from './context.ts'
import { secondFactorOf } from './oidc-claims.ts'
import { findUser } from './store.ts'

/** Finds the person of a session token of the external identity provider. Creates the account at the first request. */
export async function signedInUser(context: IdentityContext, jwt: string, origin: Origin): Promise<UserPrincipal> {
  if (!context.oidc) throw fail('unauthorized', 'no issuer of session tokens is configured')
  const claims = await context.oidc.verify(jwt)
  const person = personOf(context.oidc.issuer, claims)
  const known = await findUser(context.db.lookups, person.issuer, person.subject)
  const now = instant(context)
  const id = known && !hasNews(person, known) ? known.id : await welcome(context, person, now, origin)
  return { type: 'user', id, session: { kind: 'browser', id: null, ...secondFactorOf(claims, now) } }
}

/**
 * True if another address was verified, or the known one is no longer verified. A token without an address tells
 * nothing about either.
 */
const hasNews = ({ email, verifiedEmail }: Person, known: { verifiedEmail: string | null }): boolean =>
  verifiedEmail !== null ? verifiedEmail !== known.verifiedEmail : email !== null && email === known.verifiedEmail

const emailForm = new RegExp((Email as typeof Email & { pattern: string }).pattern)
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that are taken out
const controls = /[\u0000-\u001f\u007f-\u009f]+/g
/** OpenID Connect Core, section 2: `sub` is at most 255 ASCII characters. */
const subjectForm = /^[\u0020-\u007e]{1,255}$/

/**
 * Reads a person from claims. The claims must match the formats of our own request bodies. A subject in another format
 * is refused.
 */
export function personOf(issuer: string, claims: JWTPayload): Person {
  const { sub, email: address, name } = claims
  if (typeof sub !== 'string' || !subjectForm.test(sub)) throw fail('unauthorized', 'session token refused')
  const sound = typeof address === 'string' && address.length <= limits.emailCharacters && emailForm.test(address)
  const email = sound ? address.toLowerCase() : null
  return {
    issuer,
    subject: sub,
    email,
    verifiedEmail: claims.email_verified === true ? email : null,
    name: typeof name === 'string' ? nameOf(name) : null,
  }
}

function nameOf(claim: string): string | null {
  const text = claim.replace(controls, ' ').trim().slice(0, limits.displayNameCharacters).toWellFormed()
  return text === '' ? null : text
}

const welcome = (context: IdentityContext, person: Person, now: string, origin: Origin): Promise<string> =>
  transactWithAudit(context, origin, (tx, record) =>
    makeUser(tx, person, now, (action, resourceId, metadata = {}, more = {}) =>
      record({ orgId: null, action, resourceId, metadata, ...more }),
    ),
  )

/** Creates the user if needed. Invitations wait until they are accepted, because anyone can invite anybody. */
export async function makeUser(tx: Tx, person: Person, now: string, audit: Audit<'user.created'>): Promise<string> {
  const user = await upsertUser(tx, { id: newId('user'), ...person, now })
  if (!user) throw new Error('an upsert returns its row')
  const actor = { type: 'user', id: user.id }
  if (user.created) audit('user.created', user.id, { issuer: person.issuer }, { orgId: null, actor })
  return user.id
}
