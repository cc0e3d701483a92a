import type { Answer } from '@skerry/contract/endpoint'
import type { orgs } from '@skerry/contract/orgs/endpoints'
import { isNamed } from '@skerry/contract/prefixes'
import { type SharesLeft, sharesWithout } from '@skerry/contract/recovery/custodians'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import type { Command } from 'commander'
import { tellOpenChanges } from '../changes/proposer.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import { type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { noMember } from '../grants.ts'
import { heldByIfKnown, hintRekey } from '../holdings.ts'
import { readSealed } from '../keyring/sealed.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { checkHolder } from '../known-holders.ts'
import { findPin } from '../known-keys.ts'
import { forgetReader } from '../known-readers.ts'
import { profileOption, shellWord } from '../labels.ts'
import { type EndLeases, endingLeases, leasesInQuestion, liveLeasesOf, settleLeases } from '../leases/outliving.ts'
import { registerOffboarding } from '../offboarding/commands.ts'
import { argumentOr, confirmable, formerly, leaf } from '../options.ts'
import { note, type Output, warn, writeTable } from '../output.ts'
import { canonical, isPinnedAs, noteRemovedPerson, type PinState, pinAnew, pinState } from '../pins.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { notedTime } from '../times.ts'
import { hintRevoke, listMadeBy } from '../tokens/made-by.ts'
import { typedHolder } from '../typed-names.ts'

type Member = Answer<typeof orgs.members>['members'][number]

export function register(command: Command): void {
  command.description('Manage the members of the organization. A member is named by e-mail address.')
  leaf(command, 'ls', 'List members, their roles, and their public keys as words').action(inOrg(list))
  formerly(
    confirmable(leaf(command, 'role <member> [role]', 'Change the role of a member: owner, admin or member')),
    '--to <role>',
  )
    .usage('<member> <role>')
    .action(signedIn(role, parseRole))
  endingLeases(confirmable(leaf(command, 'rm <member>', 'Remove a member from the organization'))).action(
    signedIn(remove),
  )
  registerOffboarding(command)
  confirmable(
    leaf(command, 'trust <member>', 'Accept the new public key of a member, after you compared its words'),
  ).action(signedIn(trust))
}

const stateWords: Record<KeyState, string> = {
  yours: 'yours',
  pinned: 'known',
  new: 'new on this machine',
  changed: 'CHANGED',
  none: 'none',
}

async function list({ session, orgId }: InOrg): Promise<Output> {
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const rows = await Promise.all(
    members.map(async (member) => ({
      ...member,
      key: stateOf(session, orgId, member),
      fingerprint: member.publicKeyJwk === null ? null : await fingerprintWords(member.publicKeyJwk),
    })),
  )
  return {
    json: { members: rows },
    text: () =>
      writeTable(
        ['e-mail', 'name', 'role', 'id', 'key', 'words'],
        rows.map((row) => [
          row.email ?? '',
          row.name ?? '',
          row.role,
          row.userId,
          stateWords[row.key],
          row.fingerprint ?? '',
        ]),
        'no members in person yet; invite someone with `skerry invite create <address>`',
      ),
  }
}

type KeyState = PinState | 'none' | 'yours'

function stateOf(session: Session, orgId: string, { userId, email, publicKeyJwk }: Member): KeyState {
  if (userId === session.principal.id && publicKeyJwk === null && !readSealed(session.settings.url, userId))
    return 'none'
  if (userId === session.principal.id) return isOwnKey(session, userId, publicKeyJwk) ? 'yours' : 'changed'
  if (publicKeyJwk === null) return findPin(session, orgId, userId) ? 'changed' : 'none'
  return pinState(session, orgId, { principalId: userId, name: email, publicKeyJwk })
}

/**
 * Compares the key with the copy of the keyring on this machine. Without a copy there is nothing to compare before it
 * is unlocked.
 */
function isOwnKey({ settings }: Session, userId: string, publicKeyJwk: string | null): boolean {
  const kept = readSealed(settings.url, userId)
  return !kept || (publicKeyJwk !== null && canonical(kept.publicKeyJwk) === canonical(publicKeyJwk))
}

async function find(session: Session, who: string): Promise<Member & { orgId: string; label: string }> {
  const { id: orgId } = await session.org()
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const found = members.find(({ userId: id, email: name }) => isNamed(who, 'user', { id, name }))
  if (found) return { ...found, orgId, label: found.email ?? found.userId }
  throw noMember(who, members)
}

type Role = Member['role']
const rights: Record<Exclude<Role, 'member'>, string> = {
  admin: 'who can invite and remove members, and make and revoke tokens',
  owner: 'who can do everything in the organization',
}
const roles: readonly string[] = ['owner', 'admin', 'member'] satisfies Role[]

function parseRole(flags: Flags & { to?: string }, _who: string, wanted: string | undefined): Role {
  const given = argumentOr(wanted, flags.to, 'role')
  if (roles.includes(given)) return given as Role
  throw usage(`'${given}' is not a role`, `use one of ${roles.join(', ')}`)
}

async function role(
  who: string,
  _role: string | undefined,
  { session, flags, input }: SignedIn<Confirmable, typeof parseRole>,
): Promise<Output> {
  const { orgId, userId, label, role: before } = await find(session, who)
  await checkHolder(session, orgId, userId, who)
  if (input !== before && input !== 'member')
    await confirmOrRefuse(`makes ${label} an ${input}, ${rights[input]}`, flags)
  const { member } = await session.client.members.update(
    { params: { orgId, userId }, body: { role: input } },
    typedHolder(who),
  )
  note(`${label} is ${member.role} now`)
  return { json: { member } }
}

async function remove(who: string, { session, flags }: SignedIn<Confirmable & EndLeases>): Promise<Output> {
  const { orgId, userId, label, email } = await find(session, who)
  await checkHolder(session, orgId, userId, who)
  await checkMayRemove(session, orgId, userId)
  const leases = leasesInQuestion(await liveLeasesOf(session, userId), flags)
  const shares = sharesWithout(await recoveryIfVisible(session, orgId), userId)
  if (shares) warn(`${label} holds a share of the recovery key: ${sharesText(shares)}`)
  await confirmOrRefuse(`removes ${label} with every key grant${leases}`, flags)
  // Read both first, because the member's grants are deleted with the member.
  const holdings = await heldByIfKnown(session, userId)
  const made = await listMadeBy(session, userId)
  await session.client.members.remove({ params: { orgId, userId } }, typedHolder(who))
  forgetReader(session, orgId, userId)
  noteRemovedPerson(session, orgId, userId, email)
  note(`removed ${label} (${userId}); \`skerry audit --actor ${shellWord(label)}\` shows what they did`)
  hintRevoke(session, label, made)
  hintRekey(session, label, holdings)
  if (holdings === undefined || holdings.held.length > 0)
    note(
      `\`skerry members offboard ${shellWord(email ?? userId)}${profileOption(session.settings.profile)}\` does these steps as one list`,
    )
  if (shares) note('  skerry recovery rotate --custodian <member> for each custodian makes new shares')
  const changes = await tellOpenChanges(session, { id: userId, label })
  const live = await settleLeases(session, { id: userId, label }, flags)
  return {
    json: {
      removed: userId,
      made: { tokens: made.tokens ?? null, clients: made.clients ?? null },
      held: holdings?.held.map((one) => one.label) ?? null,
      leases: live,
      changes,
      recovery: shares,
    },
  }
}

/** Refuses what the server would refuse after the question: only admins remove somebody else. */
async function checkMayRemove({ client, principal }: Session, orgId: string, userId: string): Promise<void> {
  if (principal.id === userId) return
  const { orgs } = await client.me.get()
  if (orgs.find(({ id }) => id === orgId)?.role === 'member')
    throw new Failure('refused', 'only owners and admins can remove other members', 'ask one: see `skerry members ls`')
}

/** Says how many shares remain without this custodian, and whether they are enough. */
function sharesText({ left, threshold, isEnough }: SharesLeft): string {
  const count = left === 1 ? '1 share remains' : `${left} shares remain`
  if (isEnough) return `${count}, and ${threshold} are needed`
  return `${count}, but ${threshold} are needed: nothing can be recovered until \`skerry recovery rotate\` makes new shares`
}

/** The recovery settings, or null for members who may not see them, because they can leave nevertheless. */
async function recoveryIfVisible(session: Session, orgId: string) {
  try {
    return (await session.client.recovery.get({ params: { orgId } })).recovery
  } catch (error) {
    if (toFailure(error).kind !== 'refused') throw error
    return null
  }
}

async function trust(who: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { orgId, userId, label, publicKeyJwk, email } = await find(session, who)
  if (publicKeyJwk === null) throw new Failure('conflict', `${label} has no key yet`)
  const known = findPin(session, orgId, userId)
  const isById = who === userId
  // The e-mail address of an id comes from the server alone.
  const grantee = { principalId: userId, name: isById ? (known?.name ?? null) : email, publicKeyJwk }
  const words = await fingerprintWords(publicKeyJwk)
  if (known) note(`known since ${notedTime(known.pinnedAt)}: ${await fingerprintWords(known.publicKeyJwk)}`)
  note(`shown by the server now: ${words}`)
  if (pinState(session, orgId, grantee) === 'changed') {
    await confirmOrRefuse(
      `accepts the new key of ${label}. Ask them for its words first, and not through this server`,
      flags,
    )
  } else if (!known) {
    await confirmOrRefuse(
      `accepts the key of ${label}. Ask them for its words first, and not through this server`,
      flags,
    )
  } else if (!isById && !isPinnedAs(session, orgId, who, userId)) {
    note(`this machine knows this key as the key of ${known.name}`)
    await confirmOrRefuse(`accepts the same key for ${label}. Ask them for its words first`, flags)
  }
  pinAnew(session, orgId, grantee)
  note(`the key of ${label} is known now`)
  if (mustVerifyIn(session, orgId))
    note('if the signed directory has an earlier key of this person, a signer now runs `skerry trust sign`')
  return { json: { userId, publicKeyJwk, fingerprint: words } }
}
