import { useSyncExternalStore } from 'react'
import { keyring } from '../keyring.ts'

// An edit that is not stored yet is kept when its page closes, the keyring locks or the session ends. It is sealed like a stored
// value, with the ciphertext that the server would have got, and kept for as long as this tab is open.

export interface Unsaved {
  userId: string
  environmentId: string
  name: string
  /** The environment's key as it was granted when this was sealed. */
  wrappedDek: string
  ciphertext: string
  baseVersion: number
  note: string
  /** This ciphertext was sent, and no answer came: the server may have it. */
  isSent?: boolean
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

/** The kept edits, also those that are on their way to the server. */
export const useUnsaved = () => useSyncExternalStore(subscribe, () => unsaved)

/** Whether the page shows or sends a kept edit, so that it must not be shown again. */
export const isInUse = (edit: Unsaved): boolean => sending.has(edit) || shown.has(edit)

/** Asks the worker at once, as `keyring.beforeLock` wants it. */
export async function sealUnsaved({ value, ...edit }: Omit<Unsaved, 'ciphertext'> & { value: string }): Promise<void> {
  const { wrappedDek, environmentId, name } = edit
  const ciphertext = await keyring.call('sealSecret', { wrappedDek, environmentId, name, value })
  keep({ ...edit, ciphertext })
}

/** Kept edits that are on their way to the server. */
const sending = new Set<Unsaved>()

/** Whether an edit of this secret is being sent. If that fails, its sender keeps it. */
export const isSending = (environmentId: string, name: string): boolean =>
  [...sending].some((one) => one.environmentId === environmentId && one.name === name)

/** Keeps an edit while it is sent, so that a reloaded page can ask the server about it. */
export async function whileSending<T>(edit: Unsaved, send: () => Promise<T>): Promise<T> {
  const kept = { ...edit, isSent: true }
  sending.add(kept)
  keep(kept)
  try {
    return await send()
  } finally {
    sending.delete(kept)
    take([kept])
  }
}

/** Kept edits that the page shows. Only a page that is loaded anew shows them again. */
const shown = new Set<Unsaved>()

/** Keeps an edit whose answer did not come, while the page still shows it: a reload ends requests and then the page. */
export function keepShown(edit: Unsaved): void {
  shown.add(edit)
  keep(edit)
}

/** Removes the edit of a secret that `keepShown` kept. */
export const dropShown = (place: Pick<Unsaved, 'userId' | 'environmentId' | 'name'>): void =>
  take(unsaved.filter((one) => shown.has(one) && isSamePlace(one, place)))

/** Keeps an edit that failed, unless a later one of the same secret is kept. */
export function keepFailed(edit: Unsaved): void {
  if (!unsaved.some((one) => isSamePlace(one, edit))) keep(edit)
}

/** Only the last edit of a secret in an environment is kept. */
export const keep = (edit: Unsaved): void => change([...unsaved.filter((one) => !isSamePlace(one, edit)), edit])

const isSamePlace = (one: Unsaved, other: Pick<Unsaved, 'userId' | 'environmentId' | 'name'>) =>
  one.userId === other.userId && one.environmentId === other.environmentId && one.name === other.name

/** Removes edits that the page shows again. */
export const take = (edits: readonly Unsaved[]): void => change(unsaved.filter((one) => !edits.includes(one)))
