import { showActionToast } from '../passing/action-toast.tsx'
import { nameOfMember } from '../people/member.ts'
import { fetchCached, fetchNow } from '../queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { nameOfLeaver, offboardingQuery } from './queries.ts'

/** The rows that this tab has told of, so that a later note on one of them is not told as a new task. */
const told = new Set<string>()

/** A live event about a row. It has ids alone, so the row is found among those that were handed to this person. */
interface RowChange {
  action: string
  resourceId?: string
  actorId?: string
  environmentId?: string
}

export const rowActions: ReadonlySet<string> = new Set(['offboarding.row_changed', 'offboarding.row_reminded'])

/** Tells an admin that a row of an offboarding was handed to them, or that somebody reminds them of it. */
export async function tellOfRow(
  orgId: string,
  ownId: string,
  { action, resourceId = '', actorId, environmentId }: RowChange,
  show: (offboardingId: string) => void,
): Promise<void> {
  if (actorId === ownId) return
  const { offboarding, rows } = await fetchNow(offboardingQuery(orgId, resourceId))
  const own = rows.filter(
    (row) => row.assigneeId === ownId && row.state === 'waiting' && row.environmentId === (environmentId ?? null),
  )
  const isReminder = action === 'offboarding.row_reminded'
  const isNew = own.some(({ id, changedById }) => changedById === actorId && !told.has(id))
  for (const { id } of own) told.add(id)
  if (own.length === 0 || !(isReminder || isNew)) return
  const { members } = await fetchCached(membersQuery(orgId))
  const actor = members.find(({ userId }) => userId === actorId)
  const by = actor ? nameOfMember(actor) : 'A service token'
  const what = `a task of the offboarding of ${nameOfLeaver(offboarding)}`
  const message = isReminder ? `${by} reminds you of ${what}.` : `${by} handed you ${what}.`
  showActionToast({ id: `offboarding-${resourceId}`, message, act: 'Show', run: () => show(resourceId) })
}
