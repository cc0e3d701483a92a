import type { AuditAction } from '@skerry/contract/actions'
import { audienceOf } from '@skerry/contract/live/audiences'
import type { Database } from '../../db/database.ts'
import type { Committed } from '../../kernel/context.ts'
import type { Faults } from '../../kernel/faults.ts'
import { changeOf, concerns, environmentOf, frameOf } from './frames.ts'
import { listHolders } from './store.ts'
import { end, type Stream, type Streams, send } from './streams.ts'

/** Changes after which others may hold the key of an environment. */
const changesHolders: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'key.granted',
  'key.revoked',
  'key.expired',
  'env.rekeyed',
  'member.removed',
])

interface DeliveryDeps {
  db: Database
  faults: Faults
  now: () => Date
}

/** Sends each entry to the callers who may know of it. An event is written once, if anybody gets it. */
export function openDelivery({ db, faults, now }: DeliveryDeps, streams: Streams) {
  const holders = new Map<string, Promise<Set<string>>>()
  const holdersOf = (orgId: string, environmentId: string) => {
    const found = holders.get(environmentId) ?? listHolders(db.lookups, orgId, environmentId, now().toISOString())
    holders.set(environmentId, found)
    return found
  }
  const sendToHolders = async (orgId: string, environmentId: string, waiting: Stream[], frame: () => Buffer) => {
    try {
      const ids = await holdersOf(orgId, environmentId)
      for (const stream of waiting) if (ids.has(stream.principal.id)) send(stream, frame())
    } catch (error) {
      // A client that may have missed an event connects again, and then reads the present state.
      for (const stream of waiting) end(stream)
      faults.warn('could not find who may hear of a change', error)
    }
  }
  return {
    forgetHolders: () => holders.clear(),
    deliver(entry: Committed): void {
      const { orgId, action, id } = entry
      const audience = audienceOf(action)
      const watching = orgId === null ? undefined : streams.of(orgId)
      if (orgId === null || !watching || audience === 'nobody') return
      if (changesHolders.has(action)) holders.clear()
      let bytes: Buffer | undefined
      const frame = () => {
        bytes ??= frameOf({ type: 'change', data: changeOf(entry) }, id)
        return bytes
      }
      const waiting: Stream[] = []
      for (const stream of watching)
        if (stream.isAdmin || audience === 'members' || concerns(entry, stream.principal.id)) send(stream, frame())
        else if (audience === 'holders') waiting.push(stream)
      const environmentId = environmentOf(entry)
      if (waiting.length > 0 && environmentId !== undefined) void sendToHolders(orgId, environmentId, waiting, frame)
    },
  }
}
