import {
  type GrantedRow,
  grantMissing,
  listMissingGrants,
  type MissingFilter,
  type MissingGrant,
} from '@skerry/sdk/teams'
import { mustVerifyIn } from './known-directories.ts'
import { findPin } from './known-keys.ts'
import { environmentShared, noteReaders } from './known-readers.ts'
import { note, warn } from './output.ts'
import { canonical, isPinnedAs, type PinnedGrantee, pinState } from './pins.ts'
import { checkNames } from './places.ts'
import { ask, canAsk } from './prompt.ts'
import { mismatchOf, type ReaderFlags } from './reader-names.ts'
import { acceptSeveral } from './readers.ts'
import type { Session } from './session.ts'
import type { Confirmable } from './settings.ts'
import { notedTime } from './times.ts'
import { trustedHolder } from './trusted-holder.ts'
import { count } from './units.ts'

// Keys that teams and plans ask for. The server lists them, and this machine grants those that it can open.

type Accepting = Confirmable & ReaderFlags
type Ready = MissingGrant & { publicKeyJwk: string }

/** The environments and people that the command line names. Undefined names all of them. */
export interface NamedPairs {
  environmentIds: ReadonlySet<string> | undefined
  people: readonly string[] | undefined
}

const nameOf = ({ email, principalId }: MissingGrant) => email ?? principalId

/** The name by which this machine knows the person. The server's name counts only for a key that is not known yet. */
const knownNameOf = (session: Session, orgId: string, one: MissingGrant) =>
  findPin(session, orgId, one.principalId)?.name ?? nameOf(one)

/** Returns true if the command line names both the environment and the person. The server could list any pair. */
function isNamedPair(
  session: Session,
  orgId: string,
  { environmentId, principalId, email }: MissingGrant,
  { environmentIds, people }: NamedPairs,
): boolean {
  const isPerson = (name: string) =>
    name === principalId ||
    (findPin(session, orgId, principalId) ? isPinnedAs(session, orgId, name, principalId) : name === email)
  return (environmentIds?.has(environmentId) ?? true) && (people?.some(isPerson) ?? true)
}

/** Lists the missing keys in four groups: ready to grant, without a keyring, not readable here, and doubtful. */
async function sortMissing(session: Session, orgId: string, only: MissingFilter, pairs: NamedPairs) {
  const listed = await listMissingGrants(session.client, orgId, only)
  const missing = listed.filter((one) => isNamedPair(session, orgId, one, pairs))
  const able = missing.filter((one): one is Ready => one.publicKeyJwk !== null)
  const held = able.filter((one) => one.held)
  const isDoubtful = (one: Ready) => doubtAbout(session, orgId, one) !== undefined
  return {
    keyless: missing.filter(({ publicKeyJwk }) => publicKeyJwk === null),
    unheld: able.filter((one) => !one.held),
    doubtful: held.filter(isDoubtful),
    ready: held.filter((one) => !isDoubtful(one)),
  }
}

/** Says why a person whom this machine knows gets no key: the server shows another public key, or another name. */
function doubtAbout(session: Session, orgId: string, one: Ready): string | undefined {
  const accept = `\`skerry members trust ${nameOf(one)}\` accepts it`
  if (pinState(session, orgId, granteeOf(one)) === 'changed')
    return `the public key of ${nameOf(one)} has changed, so they get no key; ${accept}`
  const mismatch = mismatchOf(session, orgId, { ...granteeOf(one), wantedName: one.email ?? undefined })
  return mismatch === undefined ? undefined : `${mismatch}, so they get no key; ${accept}`
}

const granteeOf = (one: Ready): PinnedGrantee => ({
  principalId: one.principalId,
  principalType: one.principalType,
  name: one.email,
  publicKeyJwk: one.publicKeyJwk,
})

/** Lists each person once. If the server names two public keys for a person, only rows with the last one are granted. */
const peopleOf = (rows: readonly Ready[]): PinnedGrantee[] => [
  ...new Map(rows.map((one) => [one.principalId, granteeOf(one)])).values(),
]

const namesOf = (rows: readonly MissingGrant[]): string => [...new Set(rows.map(nameOf))].sort().join(', ')
const labelsOf = (rows: readonly MissingGrant[]): string =>
  [...new Set(rows.map(({ label }) => label))].sort().join(', ')

/**
 * Grants the missing keys after a question that shows each environment with its person. The words of keys that this machine
 * does not know are shown first.
 */
export async function completeAccess(
  session: Session,
  orgId: string,
  pairs: NamedPairs,
  flags: Accepting,
): Promise<{ granted: GrantedRow[]; left: MissingGrant[] }> {
  const isFiltered = pairs.environmentIds !== undefined || pairs.people !== undefined
  const { keyless, unheld, doubtful, ready } = await sortMissing(session, orgId, {}, pairs)
  for (const doubt of new Set(doubtful.map((one) => doubtAbout(session, orgId, one)))) warn(doubt ?? '')
  await showPairs(session, orgId, ready)
  const granted = ready.length === 0 ? [] : await grantShown(session, orgId, ready, flags)
  if (keyless.length > 0) note(`${namesOf(keyless)} must run \`skerry keys init\` before they can get a key`)
  noteUnheld(unheld)
  if (keyless.length + unheld.length + doubtful.length + ready.length === 0)
    note(isFiltered ? 'no key that you named is missing' : 'no key is missing')
  return { granted, left: [...keyless, ...unheld, ...doubtful] }
}

function noteUnheld(unheld: readonly MissingGrant[]): void {
  // A server of an earlier release does not send `heldUntil`.
  const [without, forTime] = [unheld.filter((one) => !one.heldUntil), unheld.filter((one) => one.heldUntil)]
  if (without.length > 0) note(`you do not have the key of ${labelsOf(without)}; another admin must grant the rest`)
  for (const [label, until] of new Map(forTime.map((one) => [one.label, one.heldUntil ?? ''])))
    note(
      `you have the key of ${label} only until ${notedTime(until)}; another admin must grant it, or you grant it for a shorter time with \`skerry grant --for\``,
    )
}

/**
 * Shows who would get the key of which environment, one pair a line. A person agrees to the names, so each name must mean the
 * environment and the person that it means in the signed directory.
 */
async function showPairs(session: Session, orgId: string, ready: readonly Ready[]): Promise<void> {
  await checkNames(
    session,
    orgId,
    ready.map(({ label, environmentId: envId }) => ({ label, envId })),
  )
  await checkPeople(session, orgId, ready)
  for (const one of ready) note(`  ${one.label} to ${knownNameOf(session, orgId, one)}`)
}

/** Refuses a person whom the signed directory lists under another name or with another key. */
async function checkPeople(session: Session, orgId: string, ready: readonly Ready[]): Promise<void> {
  if (ready.length === 0 || !mustVerifyIn(session, orgId)) return
  const { requireListed } = await import('./trust/receivers.ts')
  await requireListed(
    session,
    orgId,
    ready.map((one) => ({ ...granteeOf(one), wantedName: one.email ?? undefined })),
  )
}

/** Grants keys to the people whom `showPairs` has shown. */
async function grantShown(session: Session, orgId: string, ready: Ready[], flags: Accepting): Promise<GrantedRow[]> {
  const what = `${count(ready.length, 'key')} of ${labelsOf(ready)}`
  const people = peopleOf(ready)
  const keep = await acceptSeveral(session, { what, consequence: `grants ${what}, as listed above`, people }, flags)
  keep()
  const accepted = new Set(people.map(({ principalId, publicKeyJwk }) => `${principalId} ${canonical(publicKeyJwk)}`))
  const rows = await grantMissing(session.client, ready, {
    orgId,
    // The SDK replaces the label with that of each row.
    holder: await trustedHolder(session, { orgId, label: ready[0]!.label }, 'write'),
    // A signer may have compared the words of a person without an entry. The grant signs the entry, too.
    areListed: true,
    isCompared: ({ principalId, publicKeyJwk }) => accepted.has(`${principalId} ${canonical(publicKeyJwk)}`),
    onProgress: (done, all) => note(`sent ${done} of ${count(all, 'key')}`),
    onGranted: async ({ environmentId, ...grantee }, bytes) =>
      noteReaders(session, await environmentShared(orgId, environmentId, { bytes }), [grantee]),
  })
  for (const { missing, outcome, reason } of rows) {
    const name = knownNameOf(session, orgId, missing)
    if (outcome === 'done') note(`granted ${missing.label} to ${name}`)
    else if (outcome === 'already') note(`${name} already has the key of ${missing.label}`)
    else warn(`${missing.label} was not granted to ${name}: ${reasonWords[reason ?? 'not_held']}`)
  }
  return rows
}

const reasonWords: Readonly<Record<NonNullable<GrantedRow['reason']>, string>> = {
  no_environment: 'the environment was deleted',
  not_held: 'you no longer have its key, or you have it only for a time',
  key_replaced: 'its key was replaced meanwhile; run `skerry access complete` again',
  no_principal: 'the person is no longer a member, or has no key',
  public_key_changed: 'the public key of the person has changed; compare it again',
  bound_elsewhere: 'the token is bound to another environment',
  not_planned: 'no team asks for it any longer',
}

/**
 * Offers to grant the missing keys of a team after a change. The command line does not name both the people and the
 * environments, so a person must agree to the pairs. Without a terminal nothing is granted.
 */
export async function offerToComplete(
  session: Session,
  orgId: string,
  teamId: string,
  flags: ReaderFlags,
): Promise<void> {
  const everything: NamedPairs = { environmentIds: undefined, people: undefined }
  const { ready, keyless, unheld, doubtful } = await sortMissing(session, orgId, { teamId }, everything)
  const all = ready.length + keyless.length + unheld.length + doubtful.length
  if (all === 0) return
  const next = 'grant them with `skerry access complete`'
  const missing = `${count(all, 'key')} ${all === 1 ? 'is' : 'are'} missing`
  if (!canAsk() || ready.length === 0) return note(`${missing}; ${next}`)
  note(missing)
  await showPairs(session, orgId, ready)
  if (await ask(`grant ${count(ready.length, 'key')} now?`))
    await grantShown(session, orgId, ready, { ...flags, yes: true })
  else note(next)
}
