import {
  type GrantedRow,
  grantMissing,
  listMissingGrants,
  type MissingFilter,
  type MissingGrant,
} from '@skerry/sdk/teams'
import { environmentShared, noteReaders } from './known-readers.ts'
import { note, warn } from './output.ts'
import { canonical, findPin, type PinnedGrantee, pinState } from './pins.ts'
import { ask, canAsk } from './prompt.ts'
import { acceptSeveral, mismatchOf, type ReaderFlags } from './readers.ts'
import type { Session } from './session.ts'
import type { Confirmable } from './settings.ts'
import { count } from './units.ts'

// Keys that teams and plans ask for. The server lists them, and this machine grants those that it can open.

type Accepting = Confirmable & ReaderFlags
type Ready = MissingGrant & { publicKeyJwk: string }

const nameOf = ({ email, principalId }: MissingGrant) => email ?? principalId

/** Lists the missing keys, sorted by what stands in the way. */
async function sortMissing(session: Session, orgId: string, only: MissingFilter) {
  const missing = await listMissingGrants(session.client, orgId, only)
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

/** Each person once. Rows of one person with different public keys would be a lie: the last one counts, the others fail. */
const peopleOf = (rows: readonly Ready[]): PinnedGrantee[] => [
  ...new Map(rows.map((one) => [one.principalId, granteeOf(one)])).values(),
]

const namesOf = (rows: readonly MissingGrant[]): string => [...new Set(rows.map(nameOf))].sort().join(', ')
const labelsOf = (rows: readonly MissingGrant[]): string =>
  [...new Set(rows.map(({ label }) => label))].sort().join(', ')

/** Grants the missing keys after a question. The words of keys that this machine does not know are shown first. */
export async function completeAccess(
  session: Session,
  orgId: string,
  only: MissingFilter,
  flags: Accepting,
): Promise<{ granted: GrantedRow[]; left: MissingGrant[] }> {
  const { keyless, unheld, doubtful, ready } = await sortMissing(session, orgId, only)
  for (const doubt of new Set(doubtful.map((one) => doubtAbout(session, orgId, one)))) warn(doubt ?? '')
  const granted = ready.length === 0 ? [] : await grantReady(session, orgId, ready, flags)
  if (keyless.length > 0) note(`${namesOf(keyless)} must run \`skerry keys init\` before they can get a key`)
  if (unheld.length > 0) note(`you do not have the key of ${labelsOf(unheld)}; another admin must grant the rest`)
  if (keyless.length + unheld.length + doubtful.length + ready.length === 0) note('no key is missing')
  return { granted, left: [...keyless, ...unheld, ...doubtful] }
}

async function grantReady(session: Session, orgId: string, ready: Ready[], flags: Accepting): Promise<GrantedRow[]> {
  const what = `${count(ready.length, 'key')} of ${labelsOf(ready)}`
  const people = peopleOf(ready)
  const keep = await acceptSeveral(session, { what, consequence: `grants ${what} to ${namesOf(ready)}`, people }, flags)
  keep()
  const accepted = new Set(people.map(({ principalId, publicKeyJwk }) => `${principalId} ${canonical(publicKeyJwk)}`))
  const rows = await grantMissing(session.client, ready, {
    orgId,
    holder: await session.key(),
    isCompared: ({ principalId, publicKeyJwk }) => accepted.has(`${principalId} ${canonical(publicKeyJwk)}`),
    onProgress: (done, all) => note(`${done} of ${count(all, 'key')}`),
    onGranted: async ({ environmentId, ...grantee }, bytes) =>
      noteReaders(session, await environmentShared(orgId, environmentId, { bytes }), [grantee]),
  })
  for (const { missing, outcome, reason } of rows) {
    if (outcome === 'done') note(`granted ${missing.label} to ${nameOf(missing)}`)
    else if (outcome === 'already') note(`${nameOf(missing)} already has the key of ${missing.label}`)
    else warn(`${missing.label} was not granted to ${nameOf(missing)}: ${reasonWords[reason ?? 'not_held']}`)
  }
  return rows
}

const reasonWords: Readonly<Record<NonNullable<GrantedRow['reason']>, string>> = {
  no_environment: 'the environment was deleted',
  not_held: 'you no longer have its key',
  key_replaced: 'its key was replaced meanwhile; run `skerry access complete` again',
  no_principal: 'the person is no longer a member, or has no key',
  public_key_changed: 'the public key of the person has changed; compare it again',
  bound_elsewhere: 'the token is bound to another environment',
  not_planned: 'no team asks for it any longer',
}

/**
 * Offers to grant the missing keys of a team after a change. Without a terminal, `--yes` grants them to people whose key this
 * machine knows.
 */
export async function offerToComplete(
  session: Session,
  orgId: string,
  teamId: string,
  flags: Accepting,
): Promise<void> {
  const { ready, keyless, unheld, doubtful } = await sortMissing(session, orgId, { teamId })
  const known = ready.filter((one) => findPin(session, orgId, one.principalId) !== undefined)
  const all = ready.length + keyless.length + unheld.length + doubtful.length
  if (all === 0) return
  const next = 'grant them with `skerry access complete`'
  const missing = `${count(all, 'key')} ${all === 1 ? 'is' : 'are'} missing`
  if (canAsk() && !flags.yes && ready.length > 0) {
    note(missing)
    if (await ask(`grant ${count(ready.length, 'key')} now?`)) await grantReady(session, orgId, ready, { ...flags })
    else note(next)
    return
  }
  const now = flags.yes ? (flags.reader ? ready : known) : []
  if (now.length > 0) await grantReady(session, orgId, now, flags)
  if (all > now.length)
    note(`${count(all - now.length, 'key')} ${all - now.length === 1 ? 'is' : 'are'} missing; ${next}`)
}
