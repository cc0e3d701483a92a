import type { Bytes } from '@skerry/crypto/base64url'
import { fingerprint } from '@skerry/crypto/digest'
import { fingerprintOf } from '@skerry/sdk/internal/known-state-compare'
import { orgMemory } from './org-memory.ts'
import { ownPublicKey, type Session } from './session.ts'

// The server reports who has a key. A malicious server could list a reader of its own and so receive the next key. This
// module remembers the readers to whom this machine gave each key, and the readers whom a person accepted. It does not
// add readers that the server merely lists.

/** A thing whose key is shared by readers: an environment, a managed key, or the recovery key of an organization. */
export interface Shared {
  orgId: string
  /** The id of the environment or of the other thing. */
  id: string
  /** Identifies one key of the thing. Readers of another key count as unknown. If undefined, any key matches. */
  key?: string | undefined
}

interface Reader {
  principalId: string
  publicKeyJwk: string
}

interface Known {
  key: string
  /** The fingerprint of each reader's public key, by principal. */
  readers: Record<string, string>
}

/** The known readers of an organization, by the id of the shared thing. */
const memory = orgMemory<Record<string, Known>>({
  file: 'known-readers.json',
  field: 'shared',
  holds: 'known readers',
  next: 'restore the file, or move it away and compare the readers again',
})

/** The current key of an environment, identified by its fingerprint. A re-key gives another fingerprint. */
export const environmentShared = async (orgId: string, envId: string, key: { bytes: Bytes }): Promise<Shared> => ({
  orgId,
  id: envId,
  key: await fingerprintOf(key.bytes),
})

/**
 * The keys of an environment's branches. A reader who was accepted for a branch is not accepted for the environment.
 */
export const branchesShared = (parent: Shared): Shared => ({ ...parent, id: branchesOf(parent.id) })

const branchesOf = (envId: string) => `branches of ${envId}`

/** Readers to whom this machine has not given the key, and whom nobody has accepted. */
export async function unknownReaders<R extends Reader>(
  session: Session,
  { orgId, id, key }: Shared,
  readers: readonly R[],
): Promise<R[]> {
  const known = memory.find(session.settings.url, orgId)?.[id]
  const isSameKey = known !== undefined && (key === undefined || known.key === key)
  const fingerprints = await Promise.all(readers.map(({ publicKeyJwk }) => fingerprint(publicKeyJwk)))
  return readers.filter(({ principalId }, at) => !isSameKey || known.readers[principalId] !== fingerprints[at])
}

/** Remembers readers to whom this machine has given the key, or whom a person has accepted. */
export async function noteReaders(session: Session, shared: Shared, readers: readonly Reader[]): Promise<void> {
  if (readers.length === 0) return
  const { orgId, id, key = '' } = shared
  const added = await Promise.all(
    readers.map(async ({ principalId, publicKeyJwk }) => [principalId, await fingerprint(publicKeyJwk)] as const),
  )
  memory.change(session.settings.url, orgId, (shared = {}) => {
    const before = shared[id]
    const kept = before?.key === key ? before.readers : {}
    return { ...shared, [id]: { key, readers: { ...kept, ...Object.fromEntries(added) } } }
  })
}

/** Remembers that this machine made an environment's key, for its own principal and for these readers. */
export async function noteKeyMade(
  session: Session,
  place: { orgId: string; envId: string },
  key: { bytes: Bytes },
  readers: readonly Reader[] = [],
): Promise<void> {
  const own = { principalId: session.principal.id, publicKeyJwk: await ownPublicKey(session) }
  await noteReaders(session, await environmentShared(place.orgId, place.envId, key), [own, ...readers])
}

/**
 * Forgets a reader whose access this machine has ended: to one thing and its branches, or to the whole organization.
 */
export function forgetReader({ settings }: Session, orgId: string, principalId: string, id?: string): void {
  memory.change(settings.url, orgId, (shared = {}) => {
    for (const [sharedId, { readers }] of Object.entries(shared))
      if (id === undefined || id === sharedId || branchesOf(id) === sharedId) delete readers[principalId]
    return shared
  })
}
