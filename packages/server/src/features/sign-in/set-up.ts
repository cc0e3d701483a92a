import type { signIn } from '@skerry/contract/sign-in/endpoints'
import type { Context } from '../../http/context.ts'
import { type In, type Out, Reply } from '../../http/route.ts'
import { after, needServerKey, startSession } from '../../identity/sessions.ts'
import { returnAttempt, takeAttempt } from '../../identity/throttle.ts'
import { makeUser } from '../../identity/users.ts'
import { instant, newSecret, sha256 } from '../../kernel/context.ts'
import { fail, refuseAndCommit } from '../../kernel/errors.ts'
import { insertMembership } from '../../model/people/memberships.ts'
import { createOrg } from '../orgs/create.ts'
import { needBuiltIn, personOfAddress } from './person.ts'
import { hasSetUpLink, hasUser, hasUsers, insertSetUpLink, isSetUp, useSetUpLink } from './store.ts'

const setUpTtlSeconds = 86_400

export async function get({ db, context }: In<typeof signIn.get>): Out<typeof signIn.get> {
  const kind = context.oidc ? 'external' : 'built_in'
  const setUpNeeded = kind === 'built_in' && !(await hasUsers(db))
  const { signup, smtpUrl } = context.config
  const mail = smtpUrl === null ? 'outbox' : 'smtp'
  return { kind, available: context.serverKey !== null, setUpNeeded, signup, mail }
}

/**
 * Makes a link for the person who sets this server up. Each start makes one. All of them work until one is used or an
 * organization has an owner. That owner then invites everybody else, and a link in an old log must no longer work.
 */
export async function makeSetUpLink(context: Context): Promise<string | null> {
  const { config, db, oidc, serverKey } = context
  if (oidc || !serverKey || (await isSetUp(db))) return null
  const token = newSecret()
  await insertSetUpLink(db, sha256(token), after(instant(context), setUpTtlSeconds))
  return `${config.baseUrl}/set-up#${token}`
}

/**
 * Makes an organization, and its owner from the address in the request. Who can read the console is trusted to own the
 * server without proving this address. Invitations sent to the address still wait until a mail has proven it. An
 * organization that a program signed up earlier stays as it is.
 */
export async function setUp(input: In<typeof signIn.setUp>): Out<typeof signIn.setUp> {
  const { db, context, body, now, newId, audit, origin } = input
  needBuiltIn(context)
  needServerKey(context)
  const caller = origin.ipAddress ?? ''
  await takeAttempt(db, 'sign_in', caller, now)
  if (!(await hasSetUpLink(db, sha256(body.token), now)))
    return refuseAndCommit(
      'unauthorized',
      'this link has expired or was already used; while no organization has an owner, each start of the server prints a new link',
    )
  returnAttempt(db, 'sign_in', caller)
  const person = { ...personOfAddress(body.email), name: body.name }
  // Access to the console proves nothing about the mailbox of an existing user.
  if (await hasUser(db, person.subject))
    throw fail('conflict', 'body.email: somebody already signs in with this address; give another one')
  await useSetUpLink(db, sha256(body.token), now)
  const org = await createOrg(input, { id: newId('organization'), name: body.orgName, slug: body.orgSlug })
  if (!org) throw fail('conflict', 'body.orgSlug: is already in use')
  const userId = await makeUser(db, person, now, audit)
  await insertMembership(db, org.id, userId, 'owner', now)
  audit('org.created', org.id, { slug: org.slug }, { orgId: org.id, actor: { type: 'user', id: userId } })
  const { answer, headers } = await startSession(input, userId, { mfaAt: null, issuerSecondFactor: null })
  return new Reply(201, answer, headers)
}
