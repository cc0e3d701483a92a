import { useSyncExternalStore } from 'react'
import { keyring } from '../keyring.ts'

// What was typed and is not stored outlives its page, the locking of the keyring and the session: sealed as it would have
// been stored, in this tab and no longer than the tab. It is nothing that the server would not have been given.

export interface Unsaved {
  userId: string
  environmentId: string
  name: string
  /** The environment's key as it was granted when this was sealed. */
  wrappedDek: string
  ciphertext: string
  baseVersion: number
  note: string
}

const storageName = 'skerry-unsaved'
const listeners = new Set<() => void>()
let unsaved = read()

function read(): readonly Unsaved[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(storageName) ?? '[]')
    return Array.isArray(kept) ? kept : []
  } catch {
    return []
  }
}

function change(to: readonly Unsaved[]): void {
  unsaved = to
  if (to.length > 0) sessionStorage.setItem(storageName, JSON.stringify(to))
  else sessionStorage.removeItem(storageName)
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useUnsaved = () => useSyncExternalStore(subscribe, () => unsaved)

/** Asks the worker at once, as `keyring.beforeLock` wants it. */
export async function sealUnsaved({ value, ...edit }: Omit<Unsaved, 'ciphertext'> & { value: string }): Promise<void> {
  const { wrappedDek, environmentId, name } = edit
  const ciphertext = await keyring.call('sealSecret', { wrappedDek, environmentId, name, value })
  keep({ ...edit, ciphertext })
}

/** Only the last edit of a secret in an environment is kept. */
export const keep = (edit: Unsaved): void => change([...unsaved.filter((one) => !isSamePlace(one, edit)), edit])

const isSamePlace = (one: Unsaved, other: Unsaved) =>
  one.userId === other.userId && one.environmentId === other.environmentId && one.name === other.name

/** Removes edits that the page shows again. */
export const take = (edits: readonly Unsaved[]): void => change(unsaved.filter((one) => !edits.includes(one)))
