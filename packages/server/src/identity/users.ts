import type { JWTPayload } from 'jose'
import { type Context, instant, newId } from '../http/context.ts'
import { fail } from '../http/errors.ts'
import type { UserPrincipal } from '../http/principal.ts'
import { system, unit } from '../http/unit.ts'
import { findUser, hasInvitation, insertMembership, takeInvitations, upsertUser } from './store.ts'

interface Person {
  issuer: string
  subject: string
  /** Only an address that the issuer has verified counts. */
  verifiedEmail: string | null
  email: string | null
  name: string | null
}

/** The person whose session token this is. Made known on first sight, with what they were invited to. */
export async function signedInUser(context: Context, jwt: string): Promise<UserPrincipal> {
  if (!context.oidc) throw fail('unauthorized', 'no issuer of session tokens is configured')
  const person = personOf(context.oidc.issuer, await context.oidc.verify(jwt))
  const known = await findUser(context.db, person.issuer, person.subject)
  const now = instant(context)
  const invited = person.verifiedEmail !== null && (await hasInvitation(context.db, person.verifiedEmail, now))
  const id = known && !invited ? known.id : await welcome(context, person, now)
  return { type: 'user', id, session: { browser: true } }
}

function personOf(issuer: string, claims: JWTPayload): Person {
  const email = typeof claims.email === 'string' ? claims.email.toLowerCase() : null
  return {
    issuer,
    subject: claims.sub as string,
    email,
    verifiedEmail: claims.email_verified === true ? email : null,
    name: typeof claims.name === 'string' ? claims.name.slice(0, 200) : null,
  }
}

/** Makes the user, if new, and a member of every organization that invited the verified address. */
async function welcome(context: Context, person: Person, now: string): Promise<string> {
  return unit(context, system, async (tx, record) => {
    const user = await upsertUser(tx, { id: newId('user'), ...person, now })
    if (!user) throw new Error('an upsert returns its row')
    const actor = { type: 'user', id: user.id }
    if (user.created)
      record({ orgId: null, action: 'user.created', resourceId: user.id, metadata: { issuer: person.issuer }, actor })
    const invitations = person.verifiedEmail ? await takeInvitations(tx, person.verifiedEmail, now) : []
    for (const { orgId, id, role } of invitations) {
      await insertMembership(tx, orgId, user.id, role, now)
      record({ orgId, action: 'member.joined', resourceId: user.id, metadata: { inviteId: id, role }, actor })
    }
    return user.id
  })
}
