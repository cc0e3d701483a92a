import type { changes } from '@skerry/contract/changes'
import type { Answer } from '@skerry/contract/endpoint'
import { toFailure } from '../failure.ts'
import { note, warn, writeJson, writeLine, writeTable } from '../output.ts'
import { findPlaceById, type Place } from '../places.ts'
import { withoutCiphertext } from '../secrets/queued.ts'
import { openSession, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { type Comparison, compare, diffLines } from './compare.ts'

type Shown = Answer<typeof changes.get>

interface Options extends Flags {
  reveal?: boolean
}

export async function show(changeRequestId: string, flags: Options): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const shown = await session.client.changes.get({ params: { orgId, changeRequestId } })
  const place = await findPlaceById(session, orgId, shown.changeRequest.environmentId)
  const comparison = await compareIfReadable(session, place, shown)
  if (flags.json) {
    const environment = { id: place.envId, label: place.label }
    const { changeRequest, reviews } = shown
    const seen = comparison && (flags.reveal ? withValues(comparison) : withoutValues(comparison))
    return writeJson({
      changeRequest: withoutCiphertext(changeRequest),
      environment,
      comparison: seen ?? null,
      reviews,
    })
  }
  tell(shown, place)
  if (comparison) tellComparison(comparison, shown, flags)
  if (shown.reviews.length > 0)
    writeTable(
      ['review', 'by', 'at', 'comment'],
      shown.reviews.map((one) => [one.decision, one.reviewerId, one.createdAt, one.comment ?? '']),
    )
}

/** Who holds no key still sees what is proposed, by whom and why. */
async function compareIfReadable(session: Session, place: Place, { changeRequest }: Shown) {
  try {
    return await compare(session, place, changeRequest)
  } catch (error) {
    const { kind, message } = toFailure(error)
    if (kind !== 'refused') throw error
    note(`the values are not shown: ${message}`)
  }
}

const withoutValues = ({ state, currentVersion }: Comparison) => ({ state, currentVersion })
const withValues = ({ current, proposed, ...rest }: Comparison) => ({
  ...rest,
  current: current ?? null,
  proposed: proposed ?? null,
})

const verbs = { put: 'write', delete: 'delete', restore: 'restore' } as const

function tell({ changeRequest: change, reviews }: Shown, { label }: Place): void {
  const approvals = reviews.filter(({ decision }) => decision === 'approve').length
  const version = change.restoreVersion === null ? '' : ` from version ${change.restoreVersion}`
  const on = change.baseVersion === 0 ? 'as a new secret' : `on version ${change.baseVersion}`
  writeLine(`${change.id}: ${verbs[change.action]} ${change.secretName} in ${label}${version}`)
  writeLine(`status: ${change.status}, ${approvals} of ${change.requiredApprovals} approvals`)
  writeLine(`proposed: ${on}, by ${change.proposedByType} ${change.proposedById}, ${change.createdAt}`)
  if (change.note !== null) for (const line of change.note.split('\n')) writeLine(`note: ${line}`)
}

function tellComparison(comparison: Comparison, { changeRequest: change }: Shown, { reveal = false }: Options): void {
  const { state, currentVersion } = comparison
  const current = currentVersion === null ? 'none' : `version ${currentVersion}`
  writeLine(`current: ${current}; proposed: ${state}`)
  for (const line of diffLines(comparison, reveal)) writeLine(line)
  if (state === 'unreadable') warn('the proposed value does not open with the environment’s key: do not approve it')
  if (change.status === 'open' && (currentVersion ?? 0) !== change.baseVersion)
    warn(`${change.secretName} has moved on since: an approval will only close this as superseded`)
}
