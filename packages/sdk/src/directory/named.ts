import { SkerryError } from '../errors.ts'
import type { DirectoryDraft } from './draft.ts'

// The server finds the ids for the names that a user types. An edit compares each name with the signed entry of its id.

const nameOf = (key: string): string => key.slice(key.indexOf('/') + 1)

/**
 * Refuses another person or token than the one whom the user named.
 *
 * @param key the key of the entry that the server found for the name.
 */
export function requireHolder(draft: DirectoryDraft, key: string): void {
  const { holder, holderId } = draft.typed
  const id = nameOf(key)
  if (holderId !== undefined && holderId !== id) throw otherThanNamed(holderId, id)
  if (holder === undefined) return
  const { entries } = draft.directory
  const signed = holderName(entries.get(key)?.value)
  if (signed !== undefined && !isSameHolder(key, signed, holder)) throw otherName(holder, signed)
  if (signed !== undefined) return
  // The server found an id without an entry, and the name belongs to an entry.
  for (const [other, { value }] of entries) {
    const name = isSameKind(key, other) ? holderName(value) : undefined
    if (name !== undefined && isSameHolder(other, name, holder)) throw otherOfName(holder, id, nameOf(other))
  }
}

/** Ends the person or the token whom the user named. */
export async function endHolder(draft: DirectoryDraft, key: string): Promise<void> {
  requireHolder(draft, key)
  await draft.endPrincipals([key])
}

const holderName = (value: object | undefined): string | undefined => {
  const { email, name } = (value ?? {}) as { email?: string; name?: string }
  return email ?? name
}

const isSameKind = (one: string, other: string): boolean => one.split('/', 1)[0] === other.split('/', 1)[0]

/** Capital letters count in the name of a token, and not in an address. */
const isSameHolder = (key: string, signed: string, named: string): boolean =>
  key.startsWith('person/') ? signed.toLowerCase() === named.toLowerCase() : signed === named

/** Refuses another environment than the one that the user named. No entry has the name of a branch. */
export function requireEnvironment({ typed: { environment } }: DirectoryDraft, signed: string): void {
  if (environment === undefined) return
  const isWhole = /[/:@]/.test(environment)
  if (environment !== (isWhole ? signed : signed.split(/[/:]/).at(-1))) throw otherThanNamed(environment, signed)
}

/** The key of the entry of the managed key that the user named. The server found its id. */
export function managedKeyOf(draft: DirectoryDraft, id: string): `key/${string}` | undefined {
  const key = draft.managedKey(id)
  const { managedKey } = draft.typed
  if (key !== undefined && managedKey !== undefined && nameOf(key) !== managedKey)
    throw otherName(managedKey, nameOf(key))
  return key
}

/** Nothing is signed, and nothing is sent with the documents. */
const otherThanNamed = (named: string, shown: string): SkerryError =>
  new SkerryError('conflict', `you named ${named}, and the server shows ${shown} in its place: do not trust the server`)

/** A name that somebody changed without a signature is another one, too. */
const otherName = (named: string, signed: string): SkerryError =>
  new SkerryError(
    'conflict',
    `you named ${named}, and the signed directory says ${signed}: name a person by e-mail address. If your team changed the name, a signer runs skerry trust sign first. Otherwise do not trust the server`,
  )

/** The one of this name in the directory may have ended, and another one got the name. Nobody has signed either. */
const otherOfName = (named: string, shown: string, signed: string): SkerryError =>
  new SkerryError(
    'conflict',
    `you named ${named}, and the server shows ${shown} in the place of ${signed}. If your team replaced it, a signer runs skerry trust sign first. Otherwise do not trust the server`,
  )

/**
 * The slug of an application or a group. The user named it, and the server found its id.
 *
 * @param shown the slug that the server shows for the id.
 * @returns undefined if the user named none. No entry has the id, so the slug would be the server's word alone.
 */
export function ownerOf({ typed: { owner } }: DirectoryDraft, shown: string): string | undefined {
  if (owner !== undefined && owner !== shown) throw otherThanNamed(owner, shown)
  return owner
}

/** The sync connection of a binding. The caller has wrapped keys to one, and the server names one in its answer. */
export function connectionOf({ typed: { connectionId } }: DirectoryDraft, shown: string): string {
  if (connectionId !== undefined && connectionId !== shown) throw otherThanNamed(connectionId, shown)
  return shown
}
