import { useSyncExternalStore } from 'react'
import type { Column } from './columns.ts'
import { reloadSealed, type Secret } from './queries.ts'
import { deleteSecret, isConflict, restoreSecret } from './write.ts'

// Undoes the storing of several secrets together. The tab remembers names and versions for this, but no values.

/** A stored secret: its version before (0 for none) and its new version. */
interface Stored {
  name: string
  before: number
  after: number
}

/** Secrets that were stored together in one environment. */
export interface Undoable {
  orgId: string
  userId: string
  environmentId: string
  /** The message about it: `3 secrets copied to Production.` */
  message: string
  stored: Stored[]
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

/** Offers to undo these writes. Only the last offer is kept. */
export const offerUndo = (undoable: Undoable): void => change(undoable)

export const dismissUndo = (): void => change(null)

/** The result of an undo, by name. */
export interface Undone {
  restored: string[]
  /** Changes that wait for approval, because the environment is protected now. */
  queued: string[]
  /** Somebody has changed or deleted these since, so they were left alone. */
  changed: string[]
}

/**
 * Restores the previous versions, and deletes names that did not exist before. A name that was changed since stays as
 * it is.
 */
export async function undo(undoable: Undoable): Promise<Undone> {
  const { orgId, environmentId, stored } = undoable
  const sealed = await reloadSealed(orgId, environmentId)
  const undone: Undone = { restored: [], queued: [], changed: [] }
  for (const [i, one] of stored.entries()) {
    const secret = sealed?.secrets.get(one.name)
    undone[await undoOne(orgId, environmentId, one, secret)].push(one.name)
    // After an error, another attempt continues with the remaining names.
    change({ ...undoable, stored: stored.slice(i + 1) })
  }
  change(null)
  return undone
}

async function undoOne(
  orgId: string,
  environmentId: string,
  { before, after }: Stored,
  secret: Secret | undefined,
): Promise<keyof Undone> {
  if (secret?.version !== after) return 'changed'
  try {
    const done =
      before === 0
        ? await deleteSecret(orgId, environmentId, secret, '')
        : await restoreSecret(orgId, environmentId, secret, before, '')
    return done === 'queued' ? 'queued' : 'restored'
  } catch (error) {
    // The server compares versions again, so a change made at this moment is not overwritten.
    if (isConflict(error)) return 'changed'
    throw error
  }
}
