import type { Bytes } from '../base64url.ts'
import { CryptoError } from '../errors.ts'
import { formatPrintedCode, parsePrintedCode } from '../printed-code.ts'
import { randomBytes } from '../random.ts'
import { type AuthenticatedKind, authenticate, openAuthenticated } from './authenticated.ts'
import { formatPin, parsePin, type RootPin } from './pin.ts'
import { DirectoryError } from './refusal.ts'
import { email, first, hash, id, object, oneOf, text, time } from './shape.ts'

/** The claims that an inviter makes to the invited person. Times are Unix seconds. */
export interface JoiningInvitation {
  org: string
  pin: RootPin
  email: string
  role: 'owner' | 'admin' | 'member'
  issuedAt: number
}

/** The claim that the invited person makes to the inviter: which key is theirs. */
interface JoiningAnswer {
  email: string
  /** Thumbprint of the invited person's new key. */
  kid: string
}

/** How long a code works: 7 days. */
export const joiningLifetimeSeconds = 7 * 86_400
const secretLengthBytes = 16
const futureSeconds = 600

const checkLabel = 'skerry/joining/check/v1/'

/** The two kinds have two keys, so that neither text is accepted in the place of the other. */
const invitationKind: AuthenticatedKind = {
  prefix: 'ji1',
  info: 'skerry/joining/invitation/v1',
  shape: object({
    v: first,
    org: id('organization'),
    pin: text(/^[A-Za-z0-9_@-]{43,60}$/, 'a pin'),
    email,
    role: oneOf('owner', 'admin', 'member'),
    issuedAt: time,
  }),
}
const answerKind: AuthenticatedKind = {
  prefix: 'ja1',
  info: 'skerry/joining/answer/v1',
  shape: object({ v: first, email, kid: hash }),
}

/**
 * Makes the code that an inviter gives to the invited person through another channel than the server: 28 letters and
 * digits in seven groups of four, with hyphens between the groups. It is for one person and one invitation.
 *
 * @example const joiningCode = await newJoiningCode() // 'G5TN-8Q0W-…', seven groups
 */
export const newJoiningCode = (): Promise<string> => formatPrintedCode(randomBytes(secretLengthBytes), checkLabel)

const secretOf = (typed: string): Promise<Bytes> => parsePrintedCode(typed, checkLabel)

/**
 * Makes the text by which the invited person learns the pin: `ji1.<body>.<code>`. The server may store it.
 *
 * @throws CryptoError `malformed_code`, `directory_malformed`.
 * @example
 * const pin = { root: rootDocument.hash, leastHead: 1 }
 * const invitation = { org: orgId, pin, email: 'ada@example.com', role: 'member', issuedAt: 1_767_225_600 } as const
 * const written = await makeInvitation(joiningCode, invitation)
 */
export async function makeInvitation(joiningCode: string, invitation: JoiningInvitation): Promise<string> {
  const pin = formatPin(parsePin(formatPin(invitation.pin)))
  return authenticate(invitationKind, await secretOf(joiningCode), { v: 1, ...invitation, pin })
}

/**
 * Opens an invitation with the code that the inviter gave.
 *
 * @param now Unix seconds.
 * @throws CryptoError `malformed_code`, `not_authentic`, `authentic_expired`, `directory_malformed`, `malformed_pin`.
 * @example const { org, pin } = await openInvitation(joiningCode, body, 1_767_225_600)
 */
export async function openInvitation(joiningCode: string, written: string, now: number): Promise<JoiningInvitation> {
  const opened = await openAuthenticated(invitationKind, await secretOf(joiningCode), written)
  const { v: _, pin, ...invitation } = opened as Omit<JoiningInvitation, 'pin'> & { v: 1; pin: string }
  requireCurrent(invitation.issuedAt, now)
  return { ...invitation, pin: parsePin(pin) }
}

/**
 * Makes the text by which the inviter learns the key of the invited person: `ja1.<body>.<code>`.
 *
 * @throws CryptoError `malformed_code`, `directory_malformed`.
 * @example const written = await makeAnswer(joiningCode, { email: 'ada@example.com', kid: remembered })
 */
export async function makeAnswer(joiningCode: string, answer: JoiningAnswer): Promise<string> {
  return authenticate(answerKind, await secretOf(joiningCode), { v: 1, ...answer })
}

/**
 * Opens the answer to an invitation that this client made. The client deletes the code afterwards: it works once.
 *
 * @param invitation the address that was invited, and when.
 * @param now Unix seconds.
 * @throws CryptoError `malformed_code`, `not_authentic`, `authentic_expired`, `directory_malformed`.
 * @example
 * const invited = { email: 'ada@example.com', issuedAt: 1_767_225_600 }
 * const { kid } = await openAnswer(joiningCode, body, invited, 1_767_225_700)
 */
export async function openAnswer(
  joiningCode: string,
  written: string,
  { email: invited, issuedAt }: Pick<JoiningInvitation, 'email' | 'issuedAt'>,
  now: number,
): Promise<JoiningAnswer> {
  const { email: came, kid } = (await openAuthenticated(
    answerKind,
    await secretOf(joiningCode),
    written,
  )) as JoiningAnswer
  requireCurrent(issuedAt, now)
  if (came !== invited) throw new DirectoryError('not_authentic', { expected: invited, came })
  return { email: came, kid }
}

function requireCurrent(issuedAt: number, now: number): void {
  if (!(now <= issuedAt + joiningLifetimeSeconds)) throw new CryptoError('authentic_expired', 'a code works for 7 days')
  if (!(issuedAt <= now + futureSeconds)) throw new CryptoError('authentic_expired', 'it is dated in the future')
}
