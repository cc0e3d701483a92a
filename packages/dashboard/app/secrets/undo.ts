import { useSyncExternalStore } from 'react'
import { fetchCached } from '../queries.ts'
import type { Column } from './columns.ts'
import { deletedQuery, NameInUse, restoreDeleted } from './deleted-secrets.ts'
import { reloadSealed, type Secret } from './queries.ts'
import { deleteSecret, isConflict, restoreSecret } from './write.ts'

// Undoes the storing of several secrets together. The tab remembers names and versions for this, but no values.

/** A stored secret: its version before (0 for none) and its new version. */
interface Stored {
  name: string
  before: number
  after: number
}

/** Secrets that were deleted where they were moved from. */
interface Removed {
  environmentId: string
  deleted: { id: string; name: string }[]
}

/** Secrets that were stored together in one environment. */
export interface Undoable {
  orgId: string
  userId: string
  environmentId: string
  /** The message about it: `3 secrets copied to Production.` */
  message: string
  stored: Stored[]
  removed?: Removed
}

const storageName = 'skerry-undo'
const listeners = new Set<() => void>()
let last = read()

function read(): Undoable | null {
  try {
    return JSON.parse(sessionStorage.getItem(storageName) ?? 'null')
  } catch {
    return null
  }
}

function change(to: Undoable | null): void {
  last = to
  if (to) sessionStorage.setItem(storageName, JSON.stringify(to))
  else sessionStorage.removeItem(storageName)
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns the last secrets that were stored together, if this person stored them and one of these columns has them. */
export function useUndoable(userId: string, columns: Column[]): { undoable: Undoable; column: Column } | null {
  const undoable = useSyncExternalStore(subscribe, () => last)
  if (undoable?.userId !== userId) return null
  const column = columns.find(({ environmentId }) => environmentId === undoable.environmentId)
  return column ? { undoable, column } : null
}

/** Writes of a dialog, and what is said about them. */
interface Offer extends Omit<Undoable, 'message'> {
  /** Names that wait to be deleted elsewhere. If their writes were undone, the value would then be nowhere. */
  waiting: string[]
  messageOf: (writes: Pick<Undoable, 'stored' | 'removed'>) => string
}

/**
 * Offers to undo these writes. Only the last offer is kept. `earlier` is the offer of the dialog's attempt before: if it is
 * still the last one, and is about the same environments, the new offer covers both attempts.
 */
export function offerUndo({ waiting, messageOf, ...now }: Offer, earlier: Undoable | null): Undoable | null {
  const continued = earlier !== null && earlier === last && isAlike(earlier, now) ? earlier : null
  const { stored: all, removed } = continued ? addWrites(continued, now) : now
  const stored = all.filter(({ name }) => !waiting.includes(name))
  if (stored.length === 0 && !removed) {
    if (continued) change(null)
    return null
  }
  const { orgId, userId, environmentId } = now
  const writes = { stored, ...(removed && { removed }) }
  change({ orgId, userId, environmentId, message: messageOf(writes), ...writes })
  return last
}

const isAlike = (earlier: Undoable, { environmentId, removed }: Omit<Undoable, 'message'>) =>
  earlier.environmentId === environmentId &&
  (!removed || !earlier.removed || earlier.removed.environmentId === removed.environmentId)

function addWrites(earlier: Undoable, now: Omit<Undoable, 'message'>): Pick<Undoable, 'stored' | 'removed'> {
  const stored = new Map(earlier.stored.map((one) => [one.name, one]))
  for (const one of now.stored) {
    const first = stored.get(one.name)
    // If somebody else wrote between the attempts, Undo restores their version.
    stored.set(one.name, first?.after === one.before ? { ...one, before: first.before } : one)
  }
  const deleted = [...(earlier.removed?.deleted ?? []), ...(now.removed?.deleted ?? [])]
  const from = now.removed ?? earlier.removed
  return { stored: [...stored.values()], ...(from && { removed: { environmentId: from.environmentId, deleted } }) }
}

export const dismissUndo = (): void => change(null)

/** The result of an undo, by name. */
export interface Undone {
  /** Secrets that are back in the environment that they were moved from. */
  returned: string[]
  /** Secrets that return there after an approval. They stay where they were moved to. */
  returning: string[]
  /** Secrets that cannot return there, so they stay where they were moved to. */
  stayed: string[]
  /** Secrets that have their earlier value again. */
  restored: string[]
  /** Secrets that did not exist before. */
  deleted: string[]
  /** Changes that wait for approval, because the environment is protected now. */
  queued: string[]
  /** Somebody has changed or deleted these since, so they were left alone. */
  changed: string[]
}

/**
 * Restores the previous versions, and deletes names that did not exist before. A name that was changed since stays as
 * it is. Moved secrets first return to where they were: one that cannot return also stays where it is now.
 */
export async function undo(undoable: Undoable): Promise<Undone> {
  const { orgId, environmentId, removed } = undoable
  const undone: Undone = { returned: [], returning: [], stayed: [], restored: [], deleted: [], queued: [], changed: [] }
  const stored = removed ? await returnRemoved(undoable, removed, undone) : undoable.stored
  const { removed: _, ...rest } = undoable
  const sealed = await reloadSealed(orgId, environmentId)
  for (const [i, one] of stored.entries()) {
    const secret = sealed?.secrets.get(one.name)
    undone[await undoOne(orgId, environmentId, one, secret)].push(one.name)
    // After an error, another attempt continues with the remaining names.
    change({ ...rest, stored: stored.slice(i + 1) })
  }
  change(null)
  return undone
}

/**
 * Restores what a move deleted. After an error, another attempt continues with the secrets that are still deleted. Returns
 * what is left to undo: without the secrets that are not back yet, which therefore stay where they were moved to.
 */
async function returnRemoved(
  undoable: Undoable,
  { environmentId, deleted }: Removed,
  undone: Undone,
): Promise<Stored[]> {
  const { orgId, stored } = undoable
  const kept = await fetchCached(deletedQuery(orgId, [environmentId]))
  const restorable = kept.flatMap(({ ciphertext, ...one }) =>
    ciphertext !== null && deleted.some(({ id }) => id === one.id) ? [{ ...one, ciphertext }] : [],
  )
  const { written, queued, failed } = await restoreDeleted(orgId, restorable)
  const unfinished = failed.filter(({ error }) => !(error instanceof NameInUse))
  const left = deleted.filter(({ id }) => unfinished.some((one) => one.name === id))
  for (const { id, name } of deleted.filter((one) => !left.includes(one)))
    undone[written.has(id) ? 'returned' : queued.includes(id) ? 'returning' : 'stayed'].push(name)
  const unreturned = new Set([...undone.returning, ...undone.stayed])
  const remaining = stored.filter(({ name }) => !unreturned.has(name))
  change({ ...undoable, stored: remaining, removed: { environmentId, deleted: left } })
  const [first] = unfinished
  if (first) throw first.error
  return remaining
}

async function undoOne(
  orgId: string,
  environmentId: string,
  { before, after }: Stored,
  secret: Secret | undefined,
): Promise<'restored' | 'deleted' | 'queued' | 'changed'> {
  if (secret?.version !== after) return 'changed'
  try {
    const done =
      before === 0
        ? await deleteSecret(orgId, environmentId, secret, '')
        : await restoreSecret(orgId, environmentId, secret, before, '')
    if (done === 'queued') return 'queued'
    return before === 0 ? 'deleted' : 'restored'
  } catch (error) {
    // The server compares versions again, so a change made at this moment is not overwritten.
    if (isConflict(error)) return 'changed'
    throw error
  }
}
