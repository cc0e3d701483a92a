import { idPrefixes, isNamed } from '@skerry/contract/prefixes'
import {
  type ManagedKey,
  type OpenedKey,
  openManagedKey,
  type VerifyingKeys,
  verifyingKeys,
} from '@skerry/sdk/internal/kms'
import { Failure } from '../failure.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { orNearest } from '../nearest.ts'
import { everyRow } from '../pages.ts'
import type { Session } from '../session.ts'
import { checkName, checkVersions, type NamedKey } from './pins.ts'

const pageLimit = 200

/** Lists every key that this credential may see. */
export async function listKeys(session: Session): Promise<{ orgId: string; keys: ManagedKey[] }> {
  const { id: orgId } = await session.org()
  const keys = await everyRow(
    (at) => session.client.kms.list({ params: { orgId }, query: { limit: pageLimit, ...at } }),
    (page) => page.keys,
  )
  return { orgId, keys }
}

/** Finds a key by name or id, and checks that the name means the same key as before. */
export async function findKey(session: Session, wanted: string): Promise<{ orgId: string; key: ManagedKey }> {
  const found = await lookUp(session, wanted)
  checkName(session, found.orgId, found.key)
  return found
}

export async function lookUp(session: Session, wanted: string): Promise<{ orgId: string; key: ManagedKey }> {
  const { orgId, keys } = await listKeys(session)
  const key = keys.find((one) => isNamed(wanted, 'kmsKey', one))
  if (key) return { orgId, key }
  const names = keys.map(({ name }) => name)
  const next = orNearest(wanted, names, 'see `skerry kms ls`')
  throw new Failure('notFound', `there is no managed key ${wanted} that you can see`, next)
}

export async function openKey(
  session: Session,
  wanted: string,
): Promise<{ orgId: string; key: ManagedKey; opened: OpenedKey }> {
  const { orgId, key } = await findKey(session, wanted)
  return { orgId, key, opened: await openFound(session, orgId, key, wanted) }
}

/** @param wanted the name or id by which the user named the key. */
export async function openFound(session: Session, orgId: string, key: ManagedKey, wanted: string): Promise<OpenedKey> {
  const place = { orgId, kmsKeyId: key.id }
  return openManagedKey(session.client, place, await session.key(), checkVersions(session, orgId, key, wanted))
}

/**
 * Returns public keys, which anyone in the organization may read. A key for which the caller has no grant must be named
 * by its id, or by its name in the signed directory.
 */
export async function publicKeysOf(session: Session, wanted: string): Promise<VerifyingKeys> {
  const { id: orgId } = await session.org()
  const key = await verifyingKey(session, orgId, wanted)
  return verifyingKeys(session.client, { orgId, kmsKeyId: key.id }, checkVersions(session, orgId, key, wanted))
}

async function verifyingKey(session: Session, orgId: string, wanted: string): Promise<NamedKey> {
  const isId = wanted.startsWith(idPrefixes.kmsKey)
  if (!mustVerifyIn(session, orgId)) return isId ? { id: wanted, name: wanted } : (await findKey(session, wanted)).key
  if (!isId) {
    const { signedKeyId } = await import('../trust/managed-keys.ts')
    const id = await signedKeyId(session, orgId, wanted)
    return id === undefined ? (await findKey(session, wanted)).key : { id, name: wanted }
  }
  // The directory lists keys by name. An admin and a holder of the key see the name of an id.
  const key = (await listKeys(session)).keys.find(({ id }) => id === wanted)
  if (key) return key
  throw new Failure(
    'refused',
    `${wanted} cannot be compared with the signed directory, which lists keys by name`,
    'name the key with --key <name>',
  )
}
