import { useSyncExternalStore } from 'react'
import { keyring } from '../keyring.ts'

// Keeps unsaved edits when their page closes, the keyring locks or the session ends. An edit is sealed like a stored
// value, with the ciphertext that the server would have received. It is kept as long as this tab is open.

export interface Unsaved {
  userId: string
  environmentId: string
  name: string
  /** This person's wrapped copy of the environment's key at the time of sealing. */
  wrappedDek: string
  ciphertext: string
  baseVersion: number
  note: string
  /** True if the ciphertext was sent without an answer, so the server may have it. */
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

/** The kept edits, including those that are being sent. */
export const useUnsaved = () => useSyncExternalStore(subscribe, () => unsaved)

/** Whether the page already shows or sends a kept edit, so that it must not be shown again. */
export const isInUse = (edit: Unsaved): boolean => sending.has(edit) || shown.has(edit)

/** Seals an edit and keeps it. It calls the worker synchronously, as `keyring.beforeLock` requires. */
export async function sealUnsaved({ value, ...edit }: Omit<Unsaved, 'ciphertext'> & { value: string }): Promise<void> {
  const { wrappedDek, environmentId, name } = edit
  const ciphertext = await keyring.call('sealSecret', { wrappedDek, environmentId, name, value })
  keep({ ...edit, ciphertext })
}

/** Kept edits that are being sent. */
const sending = new Set<Unsaved>()

/** Whether an edit of this secret is being sent. If that fails, its sender keeps the edit. */
export const isSending = (environmentId: string, name: string): boolean =>
  [...sending].some((one) => one.environmentId === environmentId && one.name === name)

/** Keeps an edit while it is sent, so that a page can ask the server about it after a reload. */
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

/** Kept edits that the page still shows. They are shown again only after a reload. */
const shown = new Set<Unsaved>()

/**
 * Keeps an edit that got no answer while the page still shows it, because a reload first ends the requests and then the
 * page.
 */
export function keepShown(edit: Unsaved): void {
  shown.add(edit)
  keep(edit)
}

/** Removes the edit of a secret that `keepShown` kept. */
export const dropShown = (place: Pick<Unsaved, 'userId' | 'environmentId' | 'name'>): void =>
  take(unsaved.filter((one) => shown.has(one) && isSamePlace(one, place)))

/** Keeps a failed edit, unless a later edit of the same secret is kept. */
export function keepFailed(edit: Unsaved): void {
  if (!unsaved.some((one) => isSamePlace(one, edit))) keep(edit)
}

/** Keeps an edit. It replaces an earlier one of the same secret in the same environment. */
export const keep = (edit: Unsaved): void => change([...unsaved.filter((one) => !isSamePlace(one, edit)), edit])

const isSamePlace = (one: Unsaved, other: Pick<Unsaved, 'userId' | 'environmentId' | 'name'>) =>
  one.userId === other.userId && one.environmentId === other.environmentId && one.name === other.name

/** Removes edits from the kept ones. */
export const take = (edits: readonly Unsaved[]): void => change(unsaved.filter((one) => !edits.includes(one)))
