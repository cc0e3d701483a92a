import type { SyncLimits } from '@skerry/providers/sync/provider'
import type { Tx } from '../../db/database.ts'
import { fail } from '../../kernel/errors.ts'
import { listNeighbours, listSecretNames } from './binding-store.ts'
import { nameKey, namesThere } from './names.ts'
import type { Binding } from './scope.ts'

/** The names of two bindings must not meet: each would overwrite what the other wrote. */
export async function checkNeighbours(db: Tx, binding: Binding, limits: SyncLimits): Promise<void> {
  const met = await findMeeting(db, binding, limits)
  if (met) throw fail('conflict', `body.destination: the binding ${met.bindingId} writes ${met.name} there, too`)
}

/** A name that another binding writes to one of the places of this one. */
export async function findMeeting(
  db: Tx,
  binding: Binding,
  limits: SyncLimits,
): Promise<{ bindingId: string; name: string } | null> {
  const { orgId } = binding
  const namesOf = async (one: Binding) => namesThere(await listSecretNames(db, orgId, one.id), one, limits.name).keys()
  const own = [...(await namesOf(binding))]
  for (const neighbour of await listNeighbours(db, orgId, binding)) {
    const theirs = new Set([...(await namesOf(neighbour))].map((name) => nameKey(name, limits.name)))
    const met = own.find((name) => theirs.has(nameKey(name, limits.name)))
    if (met !== undefined) return { bindingId: neighbour.id, name: met }
  }
  return null
}
