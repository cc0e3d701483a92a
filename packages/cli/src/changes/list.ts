import type { ChangeRequest } from '@skerry/sdk/secrets'
import { usage } from '../failure.ts'
import { note, writeJson, writeTable } from '../output.ts'
import { findPlace, findPlaceById, namedPlace } from '../places.ts'
import { withoutCiphertext } from '../secrets/queued.ts'
import { openSession, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags {
  status: ChangeRequest['status'] | 'any'
  limit: string
}

/** Of the whole organization, unless an option names an environment: whoever approves looks at all of them. */
export async function list(flags: Options): Promise<void> {
  if (!/^[1-9]\d{0,2}$/.test(flags.limit)) throw usage('--limit takes a whole number from 1 to 999')
  const session = await openSession(flags)
  const isNamed = [flags.env, flags.group, flags.branch].some((name) => name !== undefined)
  const place = isNamed ? await findPlace(session, namedPlace(session, flags)) : undefined
  const { id: orgId } = await session.org()
  const { changeRequests, nextCursor } = await session.client.changes.list({
    params: { orgId },
    query: {
      limit: Number(flags.limit),
      ...(flags.status === 'any' ? {} : { status: flags.status }),
      ...(place ? { envId: place.envId } : {}),
    },
  })
  if (flags.json) return writeJson({ changeRequests: changeRequests.map(withoutCiphertext), nextCursor })
  const labels = await labelsOf(session, orgId, changeRequests)
  writeTable(
    ['id', 'status', 'action', 'secret', 'in', 'proposed by', 'at'],
    changeRequests.map((one) => [
      one.id,
      one.status,
      one.action,
      one.secretName,
      labels.get(one.environmentId) ?? one.environmentId,
      one.proposedById,
      one.createdAt,
    ]),
  )
  if (nextCursor !== null) note('there are more: see --limit')
}

async function labelsOf(session: Session, orgId: string, changes: ChangeRequest[]): Promise<Map<string, string>> {
  const ids = [...new Set(changes.map(({ environmentId }) => environmentId))]
  const places = await Promise.all(ids.map((id) => findPlaceById(session, orgId, id)))
  return new Map(places.map(({ envId, label }) => [envId, label]))
}
