import type { ComparedRekey } from '@skerry/sdk/rekey-changes'
import { isSecretChange } from '@skerry/sdk/secret-change'
import type { ChangeRequest, SecretChange } from '@skerry/sdk/secrets'
import { openDirectory } from '../directory.ts'
import { toFailure } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { findPlaceById, type Place } from '../places.ts'
import { withoutCiphertext } from '../secrets/queued.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { type Comparison, compare, diffLines, originalOf, unprovenWarning } from './compare.ts'
import { findChange } from './find.ts'
import { listOpenChanges } from './open.ts'
import { proposerEnd } from './proposer.ts'
import { compareProposed, tellRekey } from './rekey.ts'

type Found = Awaited<ReturnType<typeof findChange>>

interface Options extends Flags {
  reveal?: boolean
}

export async function show(named: string, { session, flags, orgId }: InOrg<Options>): Promise<Output> {
  const found = await findChange(session, orgId, named)
  const { change, together } = found
  const place = await findPlaceById(session, orgId, change.environmentId)
  const rekey =
    isSecretChange(change) || change.status !== 'open' ? null : await compareProposed(session, place, change)
  const compared = await compareIfReadable(session, place, together.filter(isSecretChange))
  return {
    json: { ...asJson(found, place, compared, flags), ...(rekey && { rekey: asRekeyJson(rekey) }) },
    text: async () => {
      const ids = [change.proposedById, ...found.reviews.map(({ reviewerId }) => reviewerId)]
      const directory = await openDirectory(session, ids)
      const nameOf = (id: string) => directory(id) ?? id
      const stale = change.status === 'open' && (await isStale(session, found, place, { compared, rekey }))
      tell(found, place, nameOf, stale)
      if (rekey) await tellRekey(session, rekey, place)
      for (const one of together.filter(isSecretChange)) {
        if (together.length > 1) writeLine(`${verbs[one.action]} ${one.secretName}, ${baseOf(one)}`)
        const comparison = compared.get(one)
        if (comparison) tellComparison(comparison, one, flags)
      }
      if (found.reviews.length > 0)
        writeTable(
          ['review', 'by', 'at', 'comment'],
          found.reviews.map((one) => [
            one.decision,
            nameOf(one.reviewerId),
            shownTime(one.createdAt),
            one.comment ?? '',
          ]),
        )
      if (stale) note(staleAdvice)
    },
  }
}

/** The advice about an open change that can no longer be applied, also for `changes ls`. */
export const staleAdvice =
  'a stale change can no longer be applied, because its secret, or a reader of the environment, changed. Its proposer or an admin closes it with `skerry changes withdraw`. If you need the change, propose it again'

/** Whether the secret of an open change has another version than at the proposal. */
const hasMoved = ({ currentVersion }: Comparison, { status, baseVersion }: ChangeRequest): boolean =>
  status === 'open' && (currentVersion ?? 0) !== baseVersion

/** Whether an open change can no longer be applied. The server says it in the list of open changes. */
async function isStale(
  session: Session,
  { together }: Found,
  place: Place,
  { compared, rekey }: { compared: Compared; rekey: ComparedRekey | null },
): Promise<boolean> {
  if (rekey !== null) return rekey.stale
  if ([...compared].some(([one, comparison]) => hasMoved(comparison, one))) return true
  const ids = new Set(together.map(({ id }) => id))
  return (await listOpenChanges(session, place)).some((one) => ids.has(one.id) && one.stale === true)
}

function asJson({ change, reviews, together }: Found, place: Place, compared: Compared, { reveal }: Options) {
  const shown = (one: ChangeRequest) => {
    const comparison = compared.get(one)
    const seen = comparison && (reveal ? withValues(comparison) : withoutValues(comparison))
    return { changeRequest: withoutCiphertext(one), comparison: seen ?? null }
  }
  const [one = change] = together.filter(({ id }) => id === change.id)
  return {
    ...shown(one),
    environment: { id: place.envId, label: place.label },
    reviews,
    ...(together.length > 1 && { together: together.map(shown) }),
  }
}

/** The comparison without the new key. */
const asRekeyJson = ({ values, ...rest }: ComparedRekey) => ({
  ...rest,
  values: values && { same: values.same, problems: values.problems },
})

type Compared = Map<ChangeRequest, Comparison>

/**
 * Compares the values if this credential has the key. Without it, a person still sees what is proposed, by whom and
 * why.
 */
async function compareIfReadable(session: Session, place: Place, together: SecretChange[]): Promise<Compared> {
  const compared: Compared = new Map()
  try {
    for (const one of together) compared.set(one, await compare(session, place, one))
  } catch (error) {
    const { kind, message } = toFailure(error)
    if (kind !== 'refused') throw error
    note(`the values are not shown: ${message}`)
  }
  return compared
}

const withoutValues = ({ state, currentVersion, restored }: Comparison) => ({ state, currentVersion, restored })
const withValues = ({ current, proposed, ...rest }: Comparison) => ({
  ...rest,
  current: current ?? null,
  proposed: proposed ?? null,
})

export const verbs = { put: 'write', delete: 'delete', restore: 'restore', rekey: 'replace' } as const

/** The secret that a change is about, or the key. */
export const nameOfChange = ({ secretName }: ChangeRequest): string => secretName ?? 'the key'

function baseOf({ baseVersion, deletedSecretId }: ChangeRequest): string {
  if (deletedSecretId != null) return 'a deleted secret'
  return baseVersion === 0 ? 'as a new secret' : `on version ${baseVersion}`
}

function tell(
  { id, change, reviews, together }: Found,
  { label }: Place,
  nameOf: (principalId: string) => string,
  stale: boolean,
): void {
  const approvals = reviews.filter(({ decision }) => decision === 'approve').length
  const version = change.restoreVersion === null ? '' : ` from version ${change.restoreVersion}`
  const isGroup = together.length > 1
  const what = isGroup
    ? `${together.length} changes in ${label}, decided together`
    : `${verbs[change.action]} ${nameOfChange(change)} ${isSecretChange(change) ? 'in' : 'of'} ${label}${version}`
  writeLine(`${id}: ${what}`)
  writeLine(`status: ${stale ? 'stale' : change.status}, ${approvals} of ${change.requiredApprovals} approvals`)
  const by = `by ${nameOf(change.proposedById)}, ${shownTime(change.createdAt)}`
  writeLine(`proposed: ${isGroup || !isSecretChange(change) ? by : `${baseOf(change)}, ${by}`}`)
  const ended = proposerEnd(change)
  if (ended !== undefined) writeLine(`proposer: ${ended}`)
  if (change.note !== null) for (const line of change.note.split('\n')) writeLine(`note: ${line}`)
}

function tellComparison(comparison: Comparison, change: SecretChange, { reveal = false }: Options): void {
  const { state, currentVersion, restored } = comparison
  const current = currentVersion === null ? 'none' : `version ${currentVersion}`
  writeLine(`current: ${current}; proposed: ${state}`)
  for (const line of diffLines(comparison, reveal)) writeLine(line)
  if (state === 'unreadable')
    warn('the proposed value cannot be decrypted with the environment’s key: do not approve it')
  if (restored === 'different') warn(`the proposed value is not that of ${originalOf(change)}: do not approve it`)
  if (restored === 'unproven') warn(unprovenWarning(originalOf(change), change.id))
  if (hasMoved(comparison, change)) warn(`${change.secretName} changed after this was proposed`)
}
