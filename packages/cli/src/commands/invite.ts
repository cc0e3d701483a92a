import { isNamed } from '@skerry/contract/prefixes'
import { type Command, Option } from 'commander'
import { Failure, toFailure, usage } from '../failure.ts'
import { checkNew, withNewFile, writeOrTell } from '../files.ts'
import { findTeam } from '../find-team.ts'
import { findOutbox, type Outbox } from '../first-run/outbox.ts'
import { linkFrom } from '../first-run/own-invitation.ts'
import { type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { readCredential } from '../input.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { shellWord } from '../labels.ts'
import { checkApps, findPlaces, type Places, wholeApps } from '../many-places.ts'
import { orNearest } from '../nearest.ts'
import { noteNext } from '../next-step.ts'
import { confirmable, explained, gather, leaf } from '../options.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { askHidden, canAsk, confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { notedTime, shownTime } from '../times.ts'
import type { NewJoining } from '../trust/joining.ts'

const statuses = ['pending', 'accepted', 'all'] as const

export function register(command: Command): void {
  leaf(command, 'ls', 'List open invitations')
    .addOption(
      new Option('--status <status>', 'only invitations with this status').choices(statuses).default('pending'),
    )
    .action(inOrg(list))
  const creating = explained(
    leaf(command, 'create <email>', 'Invite a person'),
    'The person accepts with the link in the mail, or after signing in with that address. With --app, name what they should read: an admin grants the keys after comparing their words. With a signed directory, the command shows a joining code. Give it to the person by phone, for example: they join with `skerry invite accept --code`.',
  )
    .addOption(new Option('--role <role>', 'role of the person').choices(['member', 'admin']).default('member'))
    .option('--team <team>', 'team that the person joins; repeatable', gather)
  codeFile(wholeApps(creating)).action(inOrg(create, checkCreate))
  codeFile(leaf(command, 'resend <email>', 'Send an invitation again; it is then valid for another 7 days')).action(
    signedIn(resend, checkCodeFile),
  )
  confirmable(leaf(command, 'rm <email>', 'Withdraw an invitation')).action(signedIn(remove))
  leaf(command, 'mine', 'List invitations to you').action(signedIn(mine))
  explained(
    leaf(command, 'accept [organization]', 'Join an organization that invites you'),
    'A joining code proves the organization to you, and your key to the person who invited you. They give it to you by phone or in another way.',
  )
    .option('--code', 'join with a joining code, read from stdin or a hidden prompt')
    .action(signedIn(accept, readCode))
  confirmable(leaf(command, 'decline <organization>', 'Decline an invitation to you')).action(signedIn(decline))
}

async function create(
  email: string,
  {
    session,
    flags,
    orgId,
  }: InOrg<CodeFlags & Places & { role: 'member' | 'admin'; team?: string[] }, typeof checkCreate>,
): Promise<Output> {
  const outbox = findOutbox(session.settings.url, process.cwd())
  const teamIds = await Promise.all((flags.team ?? []).map(async (name) => (await findTeam(session, orgId, name)).id))
  const places = flags.app === undefined && flags.env === undefined ? [] : await findPlaces(session, [], flags)
  // An older server refuses these fields, so they are left out if they are empty.
  const body = {
    email,
    role: flags.role,
    ...(teamIds.length === 0 ? {} : { teamIds }),
    ...(places.length === 0 ? {} : { environmentIds: places.map(({ envId }) => envId) }),
  }
  const joining = await joiningFor(session, orgId, { email, role: flags.role }, flags)
  const { invite } = await handingOver(joining, flags, () =>
    session.client.invites.create({ params: { orgId }, body: { ...body, ...(joining && { joining: joining.text }) } }),
  )
  note(`invited ${invite.email} as ${invite.role}, until ${notedTime(invite.expiresAt)}`)
  const mail = await tellMail(session, outbox, invite.email, joining !== undefined)
  const who = shellWord(invite.email)
  note(
    teamIds.length + places.length === 0
      ? `once they have made their keys, let them read: \`skerry grant ${who} --app <slug> --env <slug>\``
      : `once they have made their keys, grant what they should read: \`skerry access complete --member ${who}\``,
  )
  return {
    json: { invite, mail, ...(joining && { joiningCodeFile: flags.codeFile ?? null }) },
    text: () => writeLine(invite.id),
    after: () => tellCode(invite.email, joining, flags),
  }
}

/**
 * Says where the mail is if the server sends none. With a joining code, nobody has to look for it. Returns where mails go;
 * null if an older server does not say it.
 */
async function tellMail(
  session: Session,
  outbox: Outbox | undefined,
  email: string,
  hasCode: boolean,
): Promise<'smtp' | 'outbox' | null> {
  const { kind, mail }: { kind: string; mail?: 'smtp' | 'outbox' } = await session.client.signIn.get()
  if (hasCode) {
    if (mail === 'outbox') note(`this server sends no mail: the person joins with the joining code${signInHint(kind)}`)
    return mail ?? null
  }
  const link = mail === 'smtp' ? undefined : await linkFrom(session.client, outbox, email)
  if (link !== undefined)
    note(`the mail is in the outbox of this machine; its link works once, until the invitation expires: ${link}`)
  else if (mail === 'outbox')
    note(
      kind === 'external'
        ? `this server sends no mail: tell the person to sign in at ${session.settings.url}, and to accept the invitation`
        : 'this server sends no mail: the invitation is a file in the folder `outbox` of its data directory. Ask the operator for its link, and pass it on',
    )
  return mail ?? null
}

/** The joining code proves the organization, and does not sign the person in. An external provider needs no mail. */
const signInHint = (kind: string): string =>
  kind === 'external'
    ? ''
    : '. To sign in, the person enters their address on the sign-in page. The server then writes the sign-in link into a file in the folder `outbox` of its data directory. Pass the link on: it works for 15 minutes'

/** Makes a joining code, if this machine knows the signed directory of the organization. */
async function joiningFor(
  session: Session,
  orgId: string,
  invited: { email: string; role: 'admin' | 'member' },
  { codeFile: path }: CodeFlags,
): Promise<NewJoining | undefined> {
  if (!mustVerifyIn(session, orgId)) {
    if (path === undefined) return undefined
    throw usage(
      'this machine knows no signed directory of this organization, so there is no joining code; nothing was changed',
      'leave --code-file out, or run `skerry trust pin <pin>` first',
    )
  }
  const { makeJoining } = await import('../trust/joining.ts')
  return makeJoining(session, orgId, invited)
}

/** Invites a person, keeps the joining code, and writes it to its file. */
const handingOver = <T extends { invite: { email: string } }>(
  joining: NewJoining | undefined,
  { codeFile: path }: CodeFlags,
  request: () => Promise<T>,
): Promise<T> =>
  withNewFile(joining && path, async (write) => {
    const answer = await request()
    joining?.keep()
    // The person is invited already, so only the code is made again.
    const { email } = answer.invite
    writeOrTell(
      () => write(`${joining?.code}\n`),
      `${email} is invited, and the joining code is lost`,
      `run \`skerry invite resend ${shellWord(email)} --code-file <path>\``,
    )
    return answer
  })

async function tellCode(email: string, joining: NewJoining | undefined, flags: CodeFlags): Promise<void> {
  if (joining) (await import('../trust/joining.ts')).tellCode(email, joining, flags)
}

interface CodeFlags extends Flags {
  codeFile?: string
}

const codeFile = (command: Command): Command =>
  command.option('--code-file <path>', 'write the joining code to this new file instead of showing it')

const checkCodeFile = ({ codeFile: path }: CodeFlags): void => checkNew(path)

function checkCreate(flags: CodeFlags & Places): void {
  checkApps(flags)
  checkCodeFile(flags)
}

async function list({
  session,
  flags: { status },
  orgId,
}: InOrg<Flags & { status: (typeof statuses)[number] }>): Promise<Output> {
  // An older server lists pending invitations only, and refuses the field.
  const query = status === 'pending' ? {} : { status }
  const { invites } = await session.client.invites.list({ params: { orgId }, query })
  return {
    json: { invites },
    text: () =>
      writeTable(
        ['e-mail', 'role', 'sent', 'until', 'accepted', 'id'],
        invites.map((one) => [
          one.email,
          one.role,
          shownTime(one.sentAt ?? one.createdAt),
          shownTime(one.expiresAt),
          shownTime(one.acceptedAt, ''),
          one.id,
        ]),
        'nobody is invited; invite someone with `skerry invite create <address>`',
      ),
  }
}

async function mine({ session: { client } }: SignedIn): Promise<Output> {
  const { invites } = await client.ownInvites.list()
  return {
    json: { invites },
    text: () =>
      writeTable(
        ['organization', 'calls itself', 'role', 'invited by', 'until', 'id'],
        invites.map((one) => [
          one.orgSlug,
          one.orgName,
          one.role,
          one.invitedBy ?? 'a token or a machine client',
          shownTime(one.expiresAt),
          one.id,
        ]),
        'no invitation waits for you; ask an admin to run `skerry invite create <your address>`',
      ),
  }
}

interface AcceptFlags extends Flags {
  code?: boolean
}

/** A link in a mail or the dashboard may have accepted the invitation already. */
const acceptedWithoutCode =
  'if you have accepted it already, for example with the link in the mail, ask the person who invited you to compare your words: `skerry keys fingerprint` shows them, and so does Keyring in your account in the dashboard'

const readCode = async ({ code }: AcceptFlags): Promise<string | undefined> =>
  code ? readCredential('Joining code') : undefined

async function accept(
  which: string | undefined,
  { session, input: code }: SignedIn<AcceptFlags, typeof readCode>,
): Promise<Output> {
  const { client, settings } = session
  const invite = await findMine(client, which, code && acceptedWithoutCode)
  const given = code ?? (await askForCode(invite))
  const joining = given && (await (await import('../trust/join.ts')).openJoining(session, invite, given))
  const { org } = await client.ownInvites.accept({
    params: { inviteId: invite.id },
    ...(joining && { body: { joiningAnswer: joining.answer } }),
  })
  note(`joined ${org.slug} as ${org.role}`)
  if (joining) await joining.finish(org)
  else if (invite.joining)
    warn(
      `you joined without the joining code: ask the person who invited you for the pin, and run \`skerry trust pin <pin> --org ${org.slug}\``,
    )
  return {
    json: { org },
    text: () => writeLine(org.id),
    after: () => noteNext(client, settings.url),
  }
}

/** Asks for the joining code on a terminal. A person who got none joins without it. */
async function askForCode({ orgSlug, joining }: { orgSlug: string; joining: string | null }) {
  if (!joining || !canAsk()) return undefined
  const typed = await askHidden(`Joining code of ${orgSlug} (hidden; empty: I got none)`)
  return typed.trim() || undefined
}

async function decline(which: string, { session: { client }, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { id, orgSlug } = await findMine(client, which)
  await confirmOrRefuse(`declines the invitation of ${orgSlug}`, flags)
  await client.ownInvites.decline({ params: { inviteId: id } })
  note(`declined the invitation of ${orgSlug}`)
  return { json: { declined: id } }
}

async function findMine(client: Session['client'], which: string | undefined, next = 'see `skerry invite mine`') {
  const { invites } = await client.ownInvites.list()
  const [found, another] = invites.filter(
    ({ id, orgSlug: name }) => which === undefined || isNamed(which, 'invitation', { id, name }),
  )
  const what = which === undefined ? 'no invitation' : `no invitation of ${which}`
  const slugs = invites.map(({ orgSlug }) => orgSlug)
  if (!found) throw new Failure('notFound', `${what} waits for you`, orNearest(which ?? '', slugs, next))
  if (another) throw usage('several invitations wait for you: name one, as `skerry invite mine` shows it')
  return found
}

async function find(session: Session, who: string) {
  const { id: orgId } = await session.org()
  const { invites } = await session.client.invites.list({ params: { orgId } })
  const found = invites.find(({ id, email: name }) => isNamed(who, 'invitation', { id, name }))
  if (!found) {
    const addresses = invites.map(({ email }) => email)
    const next = orNearest(who, addresses, 'see `skerry invite ls`')
    throw new Failure('notFound', `there is no invitation of ${who}`, next)
  }
  return { orgId, found }
}

async function resend(who: string, { session, flags }: SignedIn<CodeFlags, typeof checkCodeFile>): Promise<Output> {
  const { orgId, found } = await find(session, who)
  const params = { orgId, inviteId: found.id }
  const outbox = findOutbox(session.settings.url, process.cwd())
  const joining = await joiningFor(session, orgId, found, flags)
  const body = joining && { body: { joining: joining.text } }
  const { invite } = await handingOver(joining, flags, () =>
    session.client.invites.resend({ params, ...body }).catch((error) => {
      if ((error as { code?: unknown }).code !== 'old_server') throw error
      return inviteAgain(session, params, found)
    }),
  )
  note(`sent the invitation of ${invite.email} again; it is open until ${notedTime(invite.expiresAt)}`)
  const mail = await tellMail(session, outbox, invite.email, joining !== undefined)
  return {
    json: { invite, mail, ...(joining && { joiningCodeFile: flags.codeFile ?? null }) },
    after: () => tellCode(invite.email, joining, flags),
  }
}

/** An older server sends an invitation again only if it is deleted and made again. */
async function inviteAgain(
  { client }: Session,
  params: { orgId: string; inviteId: string },
  { email, role }: { email: string; role: 'admin' | 'member' },
) {
  await client.invites.delete({ params })
  return client.invites.create({ params, body: { email, role } }).catch((error) => {
    const { kind, message } = toFailure(error)
    const next = `run \`skerry invite create ${email} --role ${role}\``
    throw new Failure(kind, `the invitation was withdrawn, and not sent again: ${message}`, next)
  })
}

async function remove(who: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { orgId, found } = await find(session, who)
  await confirmOrRefuse(`withdraws the invitation of ${found.email}`, flags)
  await session.client.invites.delete({ params: { orgId, inviteId: found.id } })
  if (mustVerifyIn(session, orgId))
    (await import('../trust/joining-codes.ts')).forgetCode(session.settings.url, orgId, found.email)
  note(`withdrew the invitation of ${found.email}`)
  return { json: { deleted: found.id } }
}
