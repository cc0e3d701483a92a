import { idPrefixes } from '@skerry/contract/prefixes'
import { type Lease, listLeaseTargets } from '@skerry/sdk/leases'
import { openDirectory, principalIdOf } from '../directory.ts'
import { findOne } from '../find-one.ts'
import type { InOrg } from '../frame.ts'
import { parseLimit } from '../options.ts'
import { note, type Output, warn, writeTable } from '../output.ts'
import { eachPage } from '../pages.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'

const pageMax = 100

interface ListOptions extends Flags {
  limit: string
  by?: string
  live?: boolean
}

export async function list({
  session,
  flags,
  orgId,
  input: { limit },
}: InOrg<ListOptions, typeof parseList>): Promise<Output> {
  const all: Lease[] = []
  let left = limit || Number.POSITIVE_INFINITY
  const filter = {
    ...(flags.by === undefined ? {} : { requestedById: await principalIdOf(session, flags.by, '--by') }),
    ...(flags.live ? { live: 'true' as const } : {}),
  }
  const pages = eachPage((at) =>
    session.client.leases.list({ params: { orgId }, query: { ...filter, limit: Math.min(left, pageMax), ...at } }),
  )
  for await (const { leases } of pages) {
    all.push(...leases.slice(0, left))
    left -= leases.length
    if (left <= 0) break
  }
  return {
    json: { leases: all },
    text: async () => {
      const names = new Map((await listLeaseTargets(session.client, orgId)).map(({ id, name }) => [id, name]))
      const targetOf = ({ targetId }: Lease) => (targetId === null ? 'deleted' : (names.get(targetId) ?? targetId))
      const nameOf = await openDirectory(
        session,
        all.map(({ requestedById }) => requestedById),
      )
      writeTable(
        ['id', 'target', 'account', 'status', 'expires', 'for'],
        all.map((one) => [
          one.id,
          targetOf(one),
          one.resourceRef ?? '',
          one.status,
          shownTime(one.expiresAt),
          nameOf(one.requestedById) ?? one.requestedById,
        ]),
        'no leases yet; create one with `skerry lease create <target>`',
      )
    },
  }
}

export const parseList = (flags: ListOptions) => ({ limit: parseLimit(flags.limit, 0) })

/** Finds a lease by id, or by the name of its account among the newest leases. An id needs no look-up. */
async function findLeaseId(session: Session, wanted: string): Promise<string> {
  if (wanted.startsWith(idPrefixes.lease)) return wanted
  const { id: orgId } = await session.org()
  const { leases } = await session.client.leases.list({ params: { orgId }, query: { limit: pageMax } })
  const open = leases.filter(({ status }) => ['pending', 'creating', 'active', 'revoking', 'orphaned'].includes(status))
  return findOne(open.length > 0 ? open : leases, wanted, {
    kind: 'lease',
    noun: 'lease',
    list: 'skerry lease ls',
    nameOf: ({ resourceRef }) => resourceRef,
  }).id
}

export async function revoke(wanted: string, { session, flags, orgId }: InOrg<Confirmable>): Promise<Output> {
  const leaseId = await findLeaseId(session, wanted)
  await confirmOrRefuse(`revokes lease ${wanted}, so every program that uses its account loses access`, flags)
  const { lease } = await session.client.leases.revoke({ params: { orgId, leaseId } })
  if (lease.status === 'revoking')
    warn(`the account could not be removed yet, and the server tries again: ${lease.lastError ?? 'no answer yet'}`)
  else note(`lease ${lease.resourceRef ?? lease.id} is ${lease.status}`)
  return { json: { lease } }
}

export async function forget(wanted: string, { session, flags, orgId }: InOrg<Confirmable>): Promise<Output> {
  const leaseId = await findLeaseId(session, wanted)
  await confirmOrRefuse(
    `closes the entry of lease ${wanted}, although its account may still exist on the target`,
    flags,
  )
  const { lease } = await session.client.leases.forget({ params: { orgId, leaseId } })
  note(`forgot lease ${lease.resourceRef ?? lease.id}`)
  return { json: { lease } }
}
