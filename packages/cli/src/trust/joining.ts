import { emailPattern } from '@skerry/contract/patterns'
import { fingerprint } from '@skerry/crypto/digest'
import { makeInvitation, newJoiningCode, openAnswer } from '@skerry/crypto/directory/joining'
import { CryptoError } from '@skerry/crypto/errors'
import { Failure } from '../failure.ts'
import { shellWord } from '../labels.ts'
import { note, warn } from '../output.ts'
import { everyRow } from '../pages.ts'
import type { Session } from '../session.ts'
import { forgetCode, type JoiningCode, keepCode, listCodes } from './joining-codes.ts'
import { openKnownDocuments } from './open.ts'

// The inviter gives a joining code to the invited person, through another channel than the server. With it the invited
// person's first contact finds the right directory, and their answer says which key is theirs.

/** A joining code, and the text that the server passes on to the invited person. */
export interface NewJoining {
  code: string
  text: string
  /** Keeps the code until the person has answered. Call it once the server has the text. */
  keep: () => void
}

/** Makes a joining code for an invitation. Undefined if the address has no right form, which the server refuses. */
export async function makeJoining(
  session: Session,
  orgId: string,
  { email: given, role }: { email: string; role: 'admin' | 'member' },
): Promise<NewJoining | undefined> {
  const email = given.toLowerCase()
  if (!new RegExp(emailPattern).test(email)) return undefined
  const { root, head } = await openKnownDocuments(session, orgId)
  const code = await newJoiningCode()
  const issuedAt = Math.floor(Date.now() / 1000)
  const pinned = { root: root.hash, leastHead: head.body.version }
  const text = await makeInvitation(code, { org: orgId, pin: pinned, email, role, issuedAt })
  return { code, text, keep: () => keepOrWarn(session, orgId, { email, code, issuedAt }) }
}

/** The invitation exists already, and works without the code, too. */
function keepOrWarn({ settings: { url } }: Session, orgId: string, code: JoiningCode): void {
  try {
    keepCode(url, orgId, code)
  } catch (error) {
    warn(`the joining code cannot be kept here, so compare the words of ${code.email}: ${(error as Error).message}`)
  }
}

/**
 * Shows a new code to the inviter, or says in which file it is. The output for programs never has it, because whoever reads the
 * code and the mail can join as the invited person.
 */
export function tellCode(
  email: string,
  { code }: NewJoining,
  { codeFile, json }: { codeFile?: string; json?: boolean },
): void {
  const what = `joining code for ${email}`
  if (codeFile === undefined && json) {
    const next = `skerry invite resend ${shellWord(email)} --code-file <path>`
    note(`--json does not contain the ${what}; \`${next}\` writes a new one to a file`)
    return
  }
  const works = 'works once, for 7 days'
  note(codeFile === undefined ? `${what}, which ${works}: ${code}` : `wrote the ${what} to ${codeFile}; it ${works}`)
  note('give it to them by phone or in another way, not through this server')
  note(
    'they run `skerry login`, `skerry keys init` and `skerry invite accept --code`; a link from a mail would accept without the code, so they do not open it',
  )
}

/** An invited person, as the server shows them. */
interface Invited {
  principalId: string
  name: string | null
  publicKeyJwk: string
  /** The address by which the user named this person; undefined if the user wrote the id. */
  wantedName?: string | undefined
}

/**
 * Finds the invited people who have answered with the joining code that this machine made for them. Nobody needs to compare
 * their words. Each code works once.
 *
 * @returns these people with the address that they answered for. Remember their keys.
 * @throws Failure if the server shows another key than the one in an answer, or an answer that was made without the code.
 */
export async function acceptAnswers(
  session: Session,
  orgId: string,
  people: readonly Invited[],
): Promise<(Invited & { name: string })[]> {
  const codes = listCodes(session.settings.url, orgId)
  const waiting = people.flatMap((person) => {
    const code = person.principalId.startsWith('usr_')
      ? codes.find(({ email }) => email === emailOf(person))
      : undefined
    return code ? [{ person, code }] : []
  })
  if (waiting.length === 0) return []
  const answers = await listAnswers(session, orgId)
  const accepted: (Invited & { name: string })[] = []
  for (const { person, code } of waiting) {
    const answer = answers.get(code.email)
    if (answer === undefined) {
      note(
        `${code.email} joined without the joining code, so compare the words of their key: \`skerry keys fingerprint\` shows them to this person, and so does Keyring in their account in the dashboard`,
      )
      continue
    }
    const kid = await kidOfAnswer(session, orgId, code, answer)
    if (kid === undefined) continue
    if (kid !== (await fingerprint(person.publicKeyJwk))) throw otherKey(person, code)
    forgetCode(session.settings.url, orgId, code.email)
    note(`the key of ${code.email} is known now: they answered with the joining code`)
    accepted.push({ ...person, name: code.email })
  }
  return accepted
}

const emailOf = ({ wantedName, name }: Invited) => (wantedName ?? name)?.toLowerCase()

async function listAnswers({ client }: Session, orgId: string): Promise<ReadonlyMap<string, string>> {
  const invites = await everyRow(
    (at) => client.invites.list({ params: { orgId }, query: { status: 'accepted', ...at } }),
    (page) => page.invites,
  )
  return new Map(
    invites.flatMap(({ email, joiningAnswer }) => (joiningAnswer ? [[email, joiningAnswer] as const] : [])),
  )
}

/** Returns undefined if the code has expired: people then compare words. */
async function kidOfAnswer(
  { settings: { url } }: Session,
  orgId: string,
  code: JoiningCode,
  answer: string,
): Promise<string | undefined> {
  try {
    return (await openAnswer(code.code, answer, code, Date.now() / 1000)).kid
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    if (error.code !== 'authentic_expired') throw notTheirs(code)
    forgetCode(url, orgId, code.email)
    note(`the joining code of ${code.email} has expired, so compare the words of their key`)
  }
}

const distrust = 'ask them for the words of `skerry keys fingerprint`, and tell your organization’s owner'

const otherKey = ({ principalId }: Invited, { email }: JoiningCode): Failure =>
  new Failure(
    'refused',
    `the server shows another key for ${email} (${principalId}) than the one in their answer to the joining code; nothing was changed`,
    distrust,
  )

const notTheirs = ({ email }: JoiningCode): Failure =>
  new Failure(
    'refused',
    `the server shows an answer of ${email} that was made without the joining code; nothing was changed`,
    distrust,
  )
