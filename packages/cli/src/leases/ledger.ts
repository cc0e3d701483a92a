import type { Answer } from '@skerry/contract/endpoint'
import type { leases as endpoints } from '@skerry/contract/leases/endpoints'
import { idPrefixes } from '@skerry/contract/prefixes'
import { type Lease, listLeaseTargets } from '@skerry/sdk/leases'
import { principalIdOf } from '../directory.ts'
import { findOne } from '../find-one.ts'
import { parseLimit } from '../options.ts'
import { note, warn, writeJson, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'

const pageMax = 100

type Page = Answer<typeof endpoints.list>

interface ListOptions extends Flags {
  limit: string
  by?: string
  live?: boolean
}

export async function list(flags: ListOptions): Promise<void> {
  const limit = parseLimit(flags.limit, 0)
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const all: Lease[] = []
  let left = limit || Number.POSITIVE_INFINITY
  let cursor: string | null = null
  const filter = {
    ...(flags.by === undefined ? {} : { requestedById: await principalIdOf(session, flags.by, '--by') }),
    ...(flags.live ? { live: 'true' as const } : {}),
  }
  do {
    const query = { ...filter, limit: Math.min(left, pageMax), ...(cursor === null ? {} : { cursor }) }
    const page: Page = await session.client.leases.list({ params: { orgId }, query })
    all.push(...page.leases.slice(0, left))
    left -= page.leases.length
    cursor = page.nextCursor
  } while (cursor !== null && left > 0)
  if (flags.json) return writeJson({ leases: all })
  const names = new Map((await listLeaseTargets(session.client, orgId)).map(({ id, name }) => [id, name]))
  const targetOf = ({ targetId }: Lease) => (targetId === null ? 'removed' : (names.get(targetId) ?? targetId))
  writeTable(
    ['id', 'target', 'account', 'status', 'expires', 'for'],
    all.map((one) => [one.id, targetOf(one), one.resourceRef ?? '', one.status, one.expiresAt, one.requestedById]),
  )
}

/** Finds a lease by id, or by the name of its account among the newest leases. An id needs no look-up. */
async function findLeaseId(session: Session, wanted: string): Promise<string> {
  if (wanted.startsWith(idPrefixes.lease)) return wanted
  const { id: orgId } = await session.org()
  const { leases } = await session.client.leases.list({ params: { orgId }, query: { limit: pageMax } })
  const open = leases.filter(({ status }) => ['pending', 'creating', 'active', 'revoking', 'orphaned'].includes(status))
  return findOne(open.length > 0 ? open : leases, wanted, {
    kind: 'lease',
    noun: 'lease',
    list: 'skerry lease list',
    nameOf: ({ resourceRef }) => resourceRef,
  }).id
}

export async function revoke(wanted: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const leaseId = await findLeaseId(session, wanted)
  await confirmOrRefuse(`revokes lease ${leaseId}`, flags)
  const { lease } = await session.client.leases.revoke({ params: { orgId, leaseId } })
  if (lease.status === 'revoking') warn(`it is tried again until it is gone: ${lease.lastError ?? 'no answer yet'}`)
  else note(`lease ${lease.id} is ${lease.status}`)
  if (flags.json) writeJson({ lease })
}

export async function forget(wanted: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const leaseId = await findLeaseId(session, wanted)
  await confirmOrRefuse(`closes the entry of lease ${leaseId}, whose account may still be on the target`, flags)
  const { lease } = await session.client.leases.forget({ params: { orgId, leaseId } })
  note(`forgot lease ${lease.id}`)
  if (flags.json) writeJson({ lease })
}
