import { isNamed } from '@skerry/contract/prefixes'
import {
  type ManagedKey,
  type OpenedKey,
  openManagedKey,
  type VerifyingKeys,
  verifyingKeys,
} from '@skerry/sdk/internal/kms'
import { Failure } from '../failure.ts'
import { orNearest } from '../nearest.ts'
import { everyRow } from '../pages.ts'
import type { Session } from '../session.ts'
import { checkName, checkVersions } from './pins.ts'

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
  return { orgId, key, opened: await openFound(session, orgId, key) }
}

export async function openFound(session: Session, orgId: string, key: ManagedKey): Promise<OpenedKey> {
  const place = { orgId, kmsKeyId: key.id }
  return openManagedKey(session.client, place, await session.key(), checkVersions(session, orgId, key))
}

/**
 * Returns public keys, which anyone in the organization may read. A key for which the caller has no grant must be named
 * by its id.
 */
export async function publicKeysOf(session: Session, wanted: string): Promise<VerifyingKeys> {
  const { id: orgId } = await session.org()
  const key = /^kms_/.test(wanted) ? { id: wanted, name: wanted } : (await findKey(session, wanted)).key
  return verifyingKeys(session.client, { orgId, kmsKeyId: key.id }, checkVersions(session, orgId, key))
}
