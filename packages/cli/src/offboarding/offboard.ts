import type { Answer } from '@skerry/contract/endpoint'
import type { offboardings } from '@skerry/contract/offboardings/endpoints'
import { distinctNames } from '@skerry/sdk/internal/distinct-names'
import { type Offboarding, type OffboardingRow, rekeyability } from '@skerry/sdk/internal/offboarding'
import { tellOpenChanges } from '../changes/proposer.ts'
import { principalIdOf } from '../directory.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { namedHolder, signedNameOf } from '../known-holders.ts'
import { forgetReader } from '../known-readers.ts'
import { shellWord } from '../labels.ts'
import { note, type Output, warn } from '../output.ts'
import { noteRemovedPerson } from '../pins.ts'
import { findPlaceById } from '../places.ts'
import { askText, canAsk } from '../prompt.ts'
import { type Leaving, type RekeyOptions, rekey } from '../rekeying.ts'
import type { Session } from '../session.ts'
import { typedHolder } from '../typed-names.ts'
import { count } from '../units.ts'
import { findOffboarding, labelOf, listRows } from './find.ts'

type Preview = Answer<typeof offboardings.preview>['preview']

/** Starts the offboarding of a person, or continues the running one, and re-keys what this machine can re-key. */
export async function offboard(who: string, { session, flags, orgId }: InOrg<RekeyOptions>): Promise<Output> {
  const found = await findOffboarding(session, orgId, who)
  const offboarding = found?.finishedAt === null ? found : await start(session, orgId, who, flags)
  await warnIfSigned(session, orgId, offboarding)
  const rows = await listRows(session, orgId, offboarding)
  const leaving = new Set([offboarding.userId, ...offboarding.revoked.map(({ id }) => id)])
  const { rekeyed, proposed, failed } = await rekeyAll(session, orgId, rows, { ...flags, leaving })
  for (const row of rows) noteLeft(row)
  const { offboarding: after } = await session.client.offboardings.get({
    params: { orgId, offboardingId: offboarding.id },
  })
  const label = labelOf(after)
  note(
    `${after.rows - after.open} of ${count(after.rows, 'row')} done; see \`skerry members offboarding ${shellWord(label)}\``,
  )
  if (failed.length > 0)
    throw new Failure(
      'failure',
      `${failed.join(', ')} ${failed.length === 1 ? 'keeps its old key' : 'keep their old keys'}`,
      `run \`skerry members offboard ${shellWord(label)}\` again to continue`,
    )
  return { json: { offboarding: after, rekeyed, proposed } }
}

async function start(session: Session, orgId: string, who: string, flags: RekeyOptions): Promise<Offboarding> {
  const userId = await principalIdOf(session, who, 'member')
  if (!userId.startsWith('usr_')) throw usage(`${who} is not a person`, 'name a member by e-mail address')
  const { preview } = await session.client.offboardings.preview({ params: { orgId, userId } })
  const label = await namedHolder(session, { orgId, id: userId, shown: labelOf(preview) }, who, flags)
  notePreview(preview, label)
  if (!flags.yes) await confirmByName(label)
  const { offboarding } = await session.client.offboardings.start(
    { params: { orgId }, body: { userId } },
    { typed: { ...typedHolder(who === userId ? who : label).typed, endedTokens: tokensIn(preview.revokes) } },
  )
  forgetReader(session, orgId, userId)
  noteRemovedPerson(session, orgId, userId, preview.email)
  note(`${preview.role === null ? 'started the offboarding of' : 'removed'} ${label}`)
  const { revoked } = offboarding
  if (revoked.length > 0) note(`revoked ${revokedWords(revoked)}`)
  await tellOpenChanges(session, { id: userId, label })
  for (const { kind, id, name } of revoked)
    if (kind === 'service_token' || kind === 'machine_client') await tellOpenChanges(session, { id, label: name })
  return offboarding
}

/** The tokens that end with the person, as they were shown before the question. */
const tokensIn = (revokes: Preview['revokes']): string[] =>
  revokes.flatMap(({ kind, id }) => (kind === 'service_token' ? [id] : []))

const kindWords = {
  service_token: 'the token',
  machine_client: 'the machine client',
  agent: 'the agent',
  platform_key: 'the platform key',
  lease: 'the lease',
  invitation: 'the invitation of',
} as const

const revokedWords = (revoked: Preview['revokes']): string =>
  distinctNames(revoked.map(({ kind, id, name }) => ({ id, name: `${kindWords[kind]} ${name}` }))).join(', ')

function notePreview({ role, environments, revokes, recovery }: Preview, label: string): void {
  const secrets = environments.reduce((sum, one) => sum + one.secrets, 0)
  if (role !== null) note(`${label} would be removed from the organization (${role}).`)
  if (revokes.length > 0) note(`Programs that use these credentials would stop: ${revokedWords(revokes)}`)
  note(`${label} could read ${count(secrets, 'value')} in ${count(environments.length, 'environment')}.`)
  for (const { label: name, via } of environments) note(`  ${name}${via === 'token' ? ', through a token' : ''}`)
  if (environments.length > 0)
    warn(
      `an environment that gets a new key loses its open changes, and cannot restore earlier versions or deleted secrets${restorable(environments)}`,
    )
  if (recovery) {
    const { sharesLeft, threshold } = recovery
    const left = sharesLeft === 1 ? '1 share remains' : `${sharesLeft} shares remain`
    warn(`${label} holds a share of the recovery key: ${left}, and ${threshold} are needed`)
  }
}

/** Counts the deleted secrets that can still be restored. An older server does not count them. */
function restorable(environments: readonly { deleted?: number }[]): string {
  const deleted = environments.reduce((sum, one) => sum + (one.deleted ?? 0), 0)
  return deleted === 0 ? '' : `; ${count(deleted, 'deleted secret')} can be restored until then`
}

/** Asks the caller to type the address of the person who leaves. Refuses a script without `--yes`. */
async function confirmByName(label: string): Promise<void> {
  if (!canAsk()) throw usage(`This offboards ${label}.`, 'Run again with `--yes` to do it.')
  if ((await askText(`Type ${label} to start`)) !== label)
    throw new Failure('failure', `you did not type ${label}, so nothing was changed`, 'run the command again')
}

/** Warns if nobody has signed the end of the person. A server could say that an offboarding runs which nobody started. */
async function warnIfSigned(session: Session, orgId: string, { userId }: Offboarding): Promise<void> {
  const signed = await signedNameOf(session, orgId, userId)
  if (signed !== undefined)
    warn(
      `the signed directory still lists ${signed}: a signer runs \`skerry trust sign ${shellWord(signed)}\`. If nothing waits to be signed, do not trust the server`,
    )
}

/**
 * Re-keys one environment after the other, and proposes it for a protected one. An environment that fails does not stop the
 * next one.
 */
async function rekeyAll(
  session: Session,
  orgId: string,
  rows: readonly OffboardingRow[],
  flags: RekeyOptions & Leaving,
) {
  const rekeyed: string[] = []
  const proposed: string[] = []
  const failed: string[] = []
  for (const row of rows) {
    const way = rekeyability(row)
    if (way !== 'ready' && way !== 'to_propose') continue
    const label = row.label ?? ''
    try {
      const place = await findPlaceById(session, orgId, row.environmentId ?? '')
      // The address that the person typed confirms all re-keys.
      await rekey(session, place, { ...flags, yes: true })
      const done = way === 'ready' ? rekeyed : proposed
      done.push(place.label)
    } catch (error) {
      const failure = toFailure(error)
      if (failure.kind === 'interrupted') throw error
      warn(`${label}: ${failure.message}${failure.next === undefined ? '' : `; ${failure.next}`}`)
      failed.push(label)
    }
  }
  return { rekeyed, proposed, failed }
}

/** Says what to do about an environment that this machine cannot re-key. */
function noteLeft(row: OffboardingRow): void {
  const label = row.label ?? ''
  const why = rekeyability(row)
  if (row.kind === 'recovery_share' && row.state === 'waiting')
    note('The recovery key needs new shares: run `skerry recovery rotate`')
  if (why === 'no_key') note(`You do not have the key of ${label}: hand it to an admin who has, with \`--hand-to\``)
  if (why === 'proposed')
    note(`The new key of ${label} waits for approval: see \`skerry changes show ${row.changeRequestId}\``)
}
