import type { ChangeRequest, ShownChange } from '@skerry/sdk/secrets'
import { findCurrent } from '../current-place.ts'
import { openDirectory } from '../directory.ts'
import { usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { note, type Output, writeTable } from '../output.ts'
import { findPlaceById } from '../places.ts'
import { withoutCiphertext } from '../secrets/queued.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { nameOfChange, staleAdvice } from './show.ts'

interface Options extends Flags {
  status: ChangeRequest['status'] | 'any'
  limit: string
}

/**
 * Lists the whole organization unless an option names an environment: a person who approves wants to see all requests.
 */
export async function list({ session, flags }: SignedIn<Options>): Promise<Output> {
  const isNamed = [flags.env, flags.group, flags.branch].some((name) => name !== undefined)
  const place = isNamed ? await findCurrent(session, flags) : undefined
  const { id: orgId } = await session.org()
  const { changeRequests, nextCursor } = await session.client.changes.list({
    params: { orgId },
    query: {
      limit: Number(flags.limit),
      ...(flags.status === 'any' ? {} : { status: flags.status }),
      ...(place ? { envId: place.envId } : {}),
    },
  })
  return {
    json: { changeRequests: changeRequests.map(withoutCiphertext), nextCursor },
    text: async () => {
      const labels = await labelsOf(session, orgId, changeRequests)
      const nameOf = await openDirectory(
        session,
        changeRequests.map(({ proposedById }) => proposedById),
      )
      writeTable(
        ['id', 'status', 'action', 'secret', 'in', 'proposed by', 'at'],
        [...Map.groupBy(changeRequests, (one) => one.groupId ?? one.id)].map(([id, together]) => {
          const [one] = together as [Listed, ...Listed[]]
          return [
            id,
            together.some(isStale) ? 'stale' : one.status,
            [...new Set(together.map(({ action }) => action))].sort().join(', '),
            namesOf(together, one.groupSize),
            labels.get(one.environmentId) ?? one.environmentId,
            proposerOf(one, nameOf(one.proposedById)),
            shownTime(one.createdAt),
          ]
        }),
        emptyWords(flags.status),
      )
      if (changeRequests.some(isStale)) note(staleAdvice)
      if (nextCursor !== null) note('there are more changes: show them with --limit')
    },
  }
}

export function checkList(flags: Options): void {
  if (!/^[1-9]\d{0,2}$/.test(flags.limit)) throw usage('--limit must be a whole number from 1 to 999')
  if (flags.app !== undefined && flags.env === undefined && flags.branch === undefined)
    throw usage('--app alone names no environment', 'add --env, or leave it out to list all changes')
}

/** Does not say whether an environment is protected, because that would need a request for each. */
function emptyWords(status: Options['status']): string {
  if (status === 'any') return 'no changes'
  const why = '; changes wait here only in an environment that `skerry env protect` protects'
  return `no ${status} changes${status === 'open' ? why : ''}`
}

type Listed = ChangeRequest & Partial<ShownChange> & { stale?: boolean }

/** `ci (revoked)` */
const proposerOf = ({ proposedById, proposerEnded }: Listed, name = proposedById): string =>
  proposerEnded ? `${name} (${proposerEnded})` : name

/** An older server does not say whether a change is stale. */
const isStale = ({ stale }: Listed): boolean => stale === true

const shownNames = 5

/** The first names of a large group, and the number of the other names. */
function namesOf(together: ChangeRequest[], size: number): string {
  const names = together.map(nameOfChange).sort()
  const shown = names.slice(0, size > shownNames + 1 ? shownNames : size)
  return [...shown, ...(size > shown.length ? [`and ${size - shown.length} more`] : [])].join(', ')
}

async function labelsOf(session: Session, orgId: string, changes: ChangeRequest[]): Promise<Map<string, string>> {
  const ids = [...new Set(changes.map(({ environmentId }) => environmentId))]
  const places = await Promise.all(ids.map((id) => findPlaceById(session, orgId, id)))
  return new Map(places.map(({ envId, label }) => [envId, label]))
}
