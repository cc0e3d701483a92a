import { limits } from '@skerry/contract/limits'
import { Email } from '@skerry/contract/schema'
import type { JWTPayload } from 'jose'
import type { Tx } from '../db/database.ts'
import { type Context, instant, newId } from '../kernel/context.ts'
import { fail } from '../kernel/errors.ts'
import type { UserPrincipal } from '../kernel/principal.ts'
import { type Origin, unit } from '../kernel/unit.ts'
import { secondFactorOf } from './oidc-claims.ts'
import { acceptMembership, findUser, hasInvitation, type Person, takeInvitations, upsertUser } from './store.ts'
import type { Audit } from './trail.ts'

/** The person whose session token of the external issuer this is. Made known on first sight, with what they were invited to. */
export async function signedInUser(context: Context, jwt: string, origin: Origin): Promise<UserPrincipal> {
  if (!context.oidc) throw fail('unauthorized', 'no issuer of session tokens is configured')
  const claims = await context.oidc.verify(jwt)
  const person = personOf(context.oidc.issuer, claims)
  const known = await findUser(context.db, person.issuer, person.subject)
  const now = instant(context)
  const { verifiedEmail } = person
  const hasNews =
    verifiedEmail !== null && (known?.email !== verifiedEmail || (await hasInvitation(context.db, verifiedEmail, now)))
  const id = known && !hasNews ? known.id : await welcome(context, person, now, origin)
  return { type: 'user', id, session: { kind: 'browser', id: null, ...secondFactorOf(claims, now) } }
}

const emailForm = new RegExp((Email as typeof Email & { pattern: string }).pattern)
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that are taken out
const controls = /[\u0000-\u001f\u007f-\u009f]+/g
/** OpenID Connect Core, section 2: `sub` is at most 255 ASCII characters. */
const subjectForm = /^[\u0020-\u007e]{1,255}$/

/** What an issuer claims is held to the forms that our own bodies are held to; a subject of another form is no subject. */
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

const welcome = (context: Context, person: Person, now: string, origin: Origin): Promise<string> =>
  unit(context, origin, (tx, record) =>
    admit(tx, person, now, (action, resourceId, metadata = {}, more = {}) =>
      record({ orgId: null, action, resourceId, metadata, ...more }),
    ),
  )

/** Makes the user, if new, and a member of every organization that invited the verified address. */
export async function admit(
  tx: Tx,
  person: Person,
  now: string,
  audit: Audit<'user.created' | 'member.joined'>,
): Promise<string> {
  const userId = await makeUser(tx, person, now, audit)
  await acceptInvitations(tx, userId, person.verifiedEmail, now, audit)
  return userId
}

export async function makeUser(tx: Tx, person: Person, now: string, audit: Audit<'user.created'>): Promise<string> {
  const user = await upsertUser(tx, { id: newId('user'), ...person, now })
  if (!user) throw new Error('an upsert returns its row')
  const actor = { type: 'user', id: user.id }
  if (user.created) audit('user.created', user.id, { issuer: person.issuer }, { orgId: null, actor })
  return user.id
}

export async function acceptInvitations(
  tx: Tx,
  userId: string,
  verifiedEmail: string | null,
  now: string,
  audit: Audit<'member.joined'>,
): Promise<void> {
  const invitations = verifiedEmail ? await takeInvitations(tx, verifiedEmail, now) : []
  for (const { orgId, id, role: offered } of invitations) {
    const role = await acceptMembership(tx, orgId, userId, offered, now)
    audit('member.joined', userId, { inviteId: id, role }, { orgId, actor: { type: 'user', id: userId } })
  }
}
