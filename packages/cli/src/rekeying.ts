import { isReader, readerWords } from '@skerry/contract/grants/readers'
import { type ParentGrantee, rekeyEnvironment } from '@skerry/sdk/environments'
import { proposeRekey } from '@skerry/sdk/rekey-changes'
import { warnIfNobodyApproves } from './changes/approvers.ts'
import { warnOfSuperseded } from './changes/open.ts'
import { openDirectory } from './directory.ts'
import { Failure, toFailure } from './failure.ts'
import { openPlace } from './grants.ts'
import { mustVerifyIn } from './known-directories.ts'
import { environmentShared, noteKeyMade } from './known-readers.ts'
import { trustCommand } from './labels.ts'
import { noKey } from './no-key.ts'
import { note, type Output, warn } from './output.ts'
import type { Place } from './places.ts'
import { confirmOrRefuse } from './prompt.ts'
import type { ReaderFlags } from './reader-names.ts'
import { acceptReaders } from './readers.ts'
import { withRecovery } from './recovery/key.ts'
import { isProtected } from './secrets/protection.ts'
import { noteOf, type Queueing, withoutCiphertext } from './secrets/queued.ts'
import { ownPublicKey, type Session } from './session.ts'
import type { Flags } from './settings.ts'
import { listTokens, tokenState } from './tokens/find.ts'
import { readersOfRemoved } from './tokens/made-by.ts'
import { count } from './units.ts'

export interface RekeyOptions extends Flags, ReaderFlags, Queueing {
  yes?: boolean
  dropReaders?: boolean
}

/** Ids of holders whose access has ended, and who must not get the new key. */
export interface Leaving {
  leaving?: ReadonlySet<string>
}

/** Gives an environment a new key, which this machine makes and wraps for the readers who stay. Proposes it if protected. */
export async function rekey(session: Session, place: Place, flags: RekeyOptions & Leaving): Promise<Output> {
  const { orgId, envId, label } = place
  if (await isProtected(session, place)) {
    if (flags.failIfQueued) throw wouldWait(label)
    return proposeNewKey(session, place, flags)
  }
  const waiting = await warnOfSuperseded(session, place)
  const { keeps, own, recovery, stay } = await acceptHolders(
    session,
    place,
    `gives ${label} a new key, after which earlier versions of its secrets cannot be restored`,
    flags,
  )
  const manifests = mustVerifyIn(session, orgId)
  const rekeyed = rekeyEnvironment(session.client, { orgId, envId, keeps, manifests, ...recovery }, own)
  const { key, kept, readers, lost, rekeyedSecrets } = await rekeyed.catch(async (error) => {
    throw await rekeyFailure(error, session, label)
  })
  await noteKeyMade(session, { orgId, envId }, key, stay)
  note(
    `${label} has a new key: ${count(rekeyedSecrets, 'secret')} encrypted again, readable by ${count(kept.length, 'holder')}`,
  )
  await noteLost(session, lost)
  if (waiting.length > 0)
    note(`  open changes were sealed with the old key and are superseded; propose them again: ${waiting.join(', ')}`)
  noteTrust(label, manifests)
  await noteLimits(session, place)
  return { json: { environment: { id: envId, label }, rekeyedSecrets, kept, readers, lost } }
}

/** Says who must accept the new key. Machines that know the signed directory find it there, except the key of a branch. */
export function noteTrust(label: string, isSigned: boolean): void {
  const command = `\`${trustCommand(label)}\``
  note(
    isSigned && !label.includes('@')
      ? `machines that know the signed directory accept the new key; only a machine without its pin must run ${command} once`
      : `other people, and machines that remember the old key, must run ${command} once`,
  )
}

/** The same in a protected environment: the new key has its effect with the approval of an admin. */
async function proposeNewKey(session: Session, place: Place, flags: RekeyOptions & Leaving): Promise<Output> {
  const { orgId, envId, label } = place
  await warnOfSuperseded(session, place)
  const { keeps, own, recovery } = await acceptHolders(
    session,
    place,
    `proposes a new key for ${label}; after its approval, earlier versions of its secrets cannot be restored`,
    flags,
  )
  const manifests = mustVerifyIn(session, orgId)
  const proposed = proposeRekey(session.client, { orgId, envId, keeps, manifests, ...recovery }, own, noteOf(flags))
  const { changeRequest, kept, readers, lost } = await proposed.catch(async (error) => {
    throw await rekeyFailure(error, session, label)
  })
  const { id, requiredApprovals } = changeRequest
  note(`queued a new key as ${id}: ${label} is protected, and this needs ${count(requiredApprovals, 'approval')}`)
  note(`an admin reviews it with \`skerry changes show ${id}\`; take it back with \`skerry changes withdraw ${id}\``)
  await warnIfNobodyApproves(session, place, id)
  note(`${label} keeps its key until then. If a secret or a reader changes before, run this command again`)
  return {
    json: {
      environment: { id: envId, label },
      queued: true,
      changeRequest: withoutCiphertext(changeRequest),
      kept,
      readers,
      lost,
    },
  }
}

/** Asks about the holders who would get the new key, and then whether to continue. */
async function acceptHolders(session: Session, place: Place, consequence: string, flags: RekeyOptions & Leaving) {
  const { orgId, envId, label } = place
  const { key: oldKey } = await openPlace(session, orgId, envId, label)
  const { grantees } = await session.client.envs.grantees({ params: { orgId, envId } })
  const left = grantees.find(({ principalId }) => flags.leaving?.has(principalId))
  if (left !== undefined) throw stillListed(label, left.name ?? left.principalId)
  const isDropped = (grantee: ParentGrantee) => flags.dropReaders === true && isReader(grantee)
  const ofServer = grantees.filter(isReader)
  const nameOf = await namesOfReaders(session, ofServer)
  for (const one of ofServer) warnOfReader(nameOf(one), label, isDropped(one))
  const stay = grantees.filter((one) => !isDropped(one))
  const shared = await environmentShared(orgId, envId, oldKey)
  const receivers = {
    ...shared,
    what: `the new key of ${label}`,
    readers: stay,
    remarks: await readersOfRemoved(session, stay),
    leaveOut: 'leave rotation and sync out with --drop-readers',
  }
  const recovery = await withRecovery(session, flags)
  const { isAccepted, keep } = await acceptReaders(session, { receivers, ...recovery }, flags)
  await confirmOrRefuse(consequence, flags)
  await keep()
  // The SDK lists the readers again, and wraps only to readers that were accepted here.
  const keeps = (grantee: ParentGrantee) => !isDropped(grantee) && isAccepted(grantee)
  const own = { privateKey: await session.key(), publicKeyJwk: await ownPublicKey(session) }
  return { keeps, own, recovery, stay }
}

const stillListed = (label: string, name: string): Failure =>
  new Failure(
    'refused',
    `the server still lists ${name} as a reader of ${label}, and would get them the new key; nothing was changed`,
    'if they joined again, finish the offboarding with `skerry members offboarding <member> --finish`. Otherwise do not trust the server',
  )

async function noteLimits(session: Session, { kind, orgId, envId }: Place): Promise<void> {
  note('what this cannot undo:')
  note('  those who had access may have kept the old key, and what it opened: change the values themselves')
  note('  copies kept for offline use still open until they are renewed or too old')
  note('  versions from before stay in the history, and can no longer be restored')
  if (kind === 'app') note(`  branches have keys of their own: ${await branchesOf(session, orgId, envId)}`)
}

/** Names those who lost access by id and state, because a live token may have the name of an expired one. */
async function noteLost(session: Session, lost: readonly Lost[]): Promise<void> {
  const ids = lost.map(({ principalId }) => principalId)
  const nameOf = await openDirectory(session, ids)
  const ofServer = await namesOfReaders(session, lost.filter(isReader))
  const tokens = ids.some((id) => id.startsWith('skt_')) ? await listTokens(session).catch(() => []) : []
  for (const one of lost) {
    const { principalId: id } = one
    if (isReader(one)) {
      note(`  ${ofServer(one)} lost access`)
      continue
    }
    const token = tokens.find((one) => one.id === id)
    const known = token ? `${id}, ${tokenState(token)}` : id
    const name = nameOf(id)
    note(`  ${name === undefined ? known : `${name} (${known})`} lost access`)
  }
}

interface Lost {
  principalId: string
  principalType: string
}

type ServerReader = Pick<Lost, 'principalId'> & { principalType: keyof typeof readerWords }

async function namesOfReaders(session: Session, readers: readonly ServerReader[]) {
  const nameOf = await openDirectory(
    session,
    readers.map(({ principalId }) => principalId),
  )
  return ({ principalType, principalId }: ServerReader): string =>
    `the ${nameOf(principalId) ?? `${readerWords[principalType]} (${principalId})`}`
}

const wouldWait = (label: string): Failure =>
  new Failure(
    'conflict',
    `${label} is protected, so the new key would wait for approval; nothing was proposed`,
    'to propose it, leave out --fail-if-queued',
  )

/** Warns about a reader of the server, because the server can read everything that such a reader gets. */
function warnOfReader(who: string, label: string, dropped: boolean) {
  if (dropped) warn(`${who} loses the key: what it does with ${label} fails until it is granted anew`)
  else warn(`${who} gets the new key too: through it the server can read ${label}; --drop-readers leaves it out`)
}

async function branchesOf(session: Session, orgId: string, envId: string): Promise<string> {
  const { branches } = await session.client.branches.list({ params: { orgId, envId } })
  return branches.length === 0 ? 'there are none' : `re-key ${branches.map(({ slug }) => `@${slug}`).join(', ')} too`
}

async function rekeyFailure(error: unknown, session: Session, label: string): Promise<unknown> {
  const { kind, message } = toFailure(error)
  if (kind === 'conflict') {
    if (message.includes('waits for approval already')) {
      const next = 'have it approved, or take it back with `skerry changes withdraw`'
      return new Failure(kind, `${label} keeps its key for now: ${message}`, next)
    }
    const what = `${label} kept changing (${message}); it has its old key still`
    return new Failure(kind, what, 'try again when nobody writes to it')
  }
  const { code, secret } = error as { code?: unknown; secret?: unknown }
  if (code === 'old_server') {
    const next = `update the server, or take the protection off first with \`skerry env unprotect ${label}\``
    return new Failure('conflict', `${label} is protected, and this server cannot queue a new key`, next)
  }
  if (code === 'decryption_failed' && typeof secret === 'string') {
    const what = `${secret} in ${label} cannot be decrypted, so nothing was changed`
    return new Failure('failure', what, 'write it anew or delete it, and try again')
  }
  return message.includes('key grant') ? noKey(session, label) : error
}
