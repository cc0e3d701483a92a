import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { limits } from '@skerry/contract/limits'
import { emailPattern } from '@skerry/contract/patterns'
import type { Client } from '@skerry/sdk/client'
import { Failure, toFailure, usage } from '../failure.ts'
import { shellWord } from '../labels.ts'
import { note } from '../output.ts'
import { askText, canAsk } from '../prompt.ts'
import { findOutbox, type Outbox, waitForLink } from './outbox.ts'

// `skerry signup` makes an organization without members. This module invites the person who signed it up, so that they can
// open it in the dashboard. The first admin in person becomes its owner.

const emailForm = new RegExp(emailPattern)

/** Checks `--email`, or asks on a terminal. Undefined if the person wants to be invited later. */
export async function emailOf(given: string | undefined, organization: string): Promise<string | undefined> {
  if (given !== undefined) return checkEmail(given, '--email')
  if (!canAsk()) return undefined
  const usual = await emailOfGit()
  const answer = await askText(`Your e-mail address, to open ${organization} in the dashboard (empty: later)`, usual)
  return answer.trim() === '' ? undefined : checkEmail(answer.trim(), 'that')
}

function checkEmail(text: string, what: string): string {
  if (text.length <= limits.emailCharacters && emailForm.test(text)) return text.toLowerCase()
  throw usage(`${what} is no e-mail address; nothing was changed`, 'write it like ada@example.com')
}

/** The address that Git signs commits with here. Git runs without a shell. */
async function emailOfGit(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('git', ['config', '--get', 'user.email'], { timeout: 2000 })
    const email = stdout.trim()
    return emailForm.test(email) ? email : undefined
  } catch {
    return undefined
  }
}

export interface OwnInvitation {
  email: string
  role: 'admin'
  expiresAt: string
  /** The link that signs the person in and accepts the invitation. Null if only the person’s mailbox has it. */
  link: string | null
}

interface SignIn {
  kind: string
  available: boolean
  mail?: 'smtp' | 'outbox'
}

/** Invites the person, and writes how they get into the organization. The caller shows the link. */
export async function inviteOneself(
  client: Client,
  org: { id: string; slug: string },
  email: string,
): Promise<OwnInvitation> {
  const outbox = findOutbox(client.baseUrl, process.cwd())
  const { invite } = await client.invites
    .create({ params: { orgId: org.id }, body: { email, role: 'admin' } })
    .catch((error) => {
      const { kind, message } = toFailure(error)
      const what = `${org.slug} was signed up, but ${email} was not invited: ${message}`
      throw new Failure(kind, what, `run \`${inviteCommand(email)}\` later`)
    })
  // A server of an older release does not answer where mails go.
  const { kind, available, mail }: SignIn = await client.signIn.get()
  const hasLink = kind === 'built_in' && available
  const link = outbox && hasLink ? await waitForLink(outbox, client.baseUrl, email) : undefined
  note(`invited ${email}, who becomes the owner of ${org.slug} by accepting`)
  const invitation = { email, role: 'admin', expiresAt: invite.expiresAt } as const
  if (link !== undefined) return { ...invitation, link }
  if (hasLink) {
    const another = `${client.baseUrl}/sign-in mails another`
    if (mail !== 'outbox') note(`a link for ${email} is in the mail; it works once, for 7 days. ${another}`)
    else {
      note(`a link for ${email} is in the folder outbox of the server’s data directory; it works once, for 7 days`)
      const again = `SKERRY_DATA_DIR=<data directory> skerry invite resend ${shellWord(email)}`
      note(`  to see a link here, if that directory is yours and closed to others: \`${again}\``)
    }
  } else if (kind === 'built_in') note('nobody can sign in there until the operator sets SKERRY_SERVER_KEY')
  else note(`sign in at ${client.baseUrl} as ${email}, and accept the invitation there`)
  return { ...invitation, link: null }
}

/** The link of an invitation that was just made. Undefined where this user cannot read its mail, or it holds none. */
export async function linkFrom(client: Client, outbox: Outbox | undefined, email: string): Promise<string | undefined> {
  if (!outbox) return undefined
  const { kind, available } = await client.signIn.get()
  return kind === 'built_in' && available ? waitForLink(outbox, client.baseUrl, email) : undefined
}

export const inviteCommand = (email: string) => `skerry invite create ${email} --role admin`
