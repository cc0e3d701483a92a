import { fingerprint } from '@skerry/crypto/digest'
import { type JoiningInvitation, makeAnswer, openInvitation } from '@skerry/crypto/directory/joining'
import { formatPin } from '@skerry/crypto/directory/pin'
import { CryptoError } from '@skerry/crypto/errors'
import { Failure, usage } from '../failure.ts'
import { rememberPin } from '../known-directories.ts'
import { note } from '../output.ts'
import { ownPublicKey, type Session } from '../session.ts'
import { openKnownDocuments } from './open.ts'

// The invited person's side of a joining code.

/** The invitation as the server shows it. */
interface Shown {
  orgSlug: string
  role: 'admin' | 'member'
  joining: string | null
}

/** An invitation that was opened with the joining code. */
export interface Joining {
  /** The text that says which key is the caller's, for the inviter. */
  answer: string
  /** Compares the organization that the caller has joined with the one in the invitation, and verifies its directory. */
  finish: (org: { id: string; slug: string }) => Promise<void>
}

/**
 * Opens the invitation with the code that the inviter gave, before the caller joins. The pin is remembered now: a server that
 * answers the acceptance with an error would otherwise leave a member without a pin, and the code works once.
 *
 * @throws Failure for a code that is mistyped, expired, or for another person, organization or role, and for a caller who
 *   has no keys yet.
 */
export async function openJoining(session: Session, shown: Shown, code: string): Promise<Joining> {
  if (!shown.joining)
    throw new Failure(
      'refused',
      `the server shows no invitation of ${shown.orgSlug} that was made with a joining code; nothing was changed`,
      askAgain(session),
    )
  const invitation = await openInvitation(code, shown.joining, Date.now() / 1000).catch((error) => {
    throw refusalOf(error, session)
  })
  requireOwn(session, shown, invitation)
  await requireKeys(session)
  const kid = await fingerprint(await ownPublicKey(session))
  rememberPin(session.settings.url, invitation.org, formatPin(invitation.pin))
  return {
    answer: await makeAnswer(code, { email: invitation.email, kid }),
    finish: async ({ id, slug }) => {
      if (id !== invitation.org) throw otherOrg(slug)
      await openKnownDocuments(session, id, { acceptOld: true })
      note(`this machine trusts the signed directory of ${slug} now`)
    },
  }
}

const askAgain = ({ principal: { name } }: Session) =>
  `ask the person who invited you to run \`skerry invite resend ${name}\`, which makes a new code`

function refusalOf(error: unknown, session: Session): unknown {
  if (!(error instanceof CryptoError)) return error
  if (error.code === 'malformed_code')
    return usage('this is not a joining code; nothing was changed', 'check its 28 characters, seven groups of four')
  if (error.code === 'authentic_expired')
    return new Failure('refused', 'this joining code has expired; nothing was changed', askAgain(session))
  return new Failure(
    'refused',
    'this joining code is not the one of this invitation, or the server changed the invitation; nothing was changed',
    askAgain(session),
  )
}

/** Refuses a code that was made for another person, or an invitation with another role. */
function requireOwn(session: Session, { role }: Shown, invitation: JoiningInvitation): void {
  const { name } = session.principal
  if (invitation.email !== name.toLowerCase())
    throw new Failure(
      'refused',
      `this joining code is for ${invitation.email}, and you are ${name}; nothing was changed`,
      askAgain(session),
    )
  if (invitation.role !== role)
    throw new Failure(
      'refused',
      `the server shows the role ${role}, and you were invited as ${invitation.role}; nothing was changed`,
      'do not use this server, and tell the person who invited you',
    )
}

/** The answer says which key is the caller's. */
async function requireKeys({ client }: Session): Promise<void> {
  if ((await client.me.getKeys()).publicKeyJwk !== null) return
  throw new Failure(
    'conflict',
    'you have no keys yet, so the person who invited you cannot learn your key; nothing was changed',
    'run `skerry keys init`, and then this command again',
  )
}

const otherOrg = (slug: string): Failure =>
  new Failure(
    'refused',
    `the server let you join another organization than the one that invited you; it calls this one ${slug}`,
    'do not use this server, and tell the person who invited you',
  )
