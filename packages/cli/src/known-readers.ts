import { join } from 'node:path'
import type { Bytes } from '@skerry/crypto/base64url'
import { fingerprint } from '@skerry/crypto/digest'
import { fingerprintOf } from '@skerry/sdk/internal/known-state-compare'
import { withLock } from './credentials.ts'
import { Failure } from './failure.ts'
import { readIfThere, writePrivate } from './files.ts'
import { configFolder } from './folders.js'
import { ownPublicKey, type Session } from './session.ts'

// The server says who holds a key. A hostile server could list a reader of its own, and be given the next key. This
// file remembers to whom this machine gave each key, and whom a person accepted. What the server merely lists is not added.

/** Something that readers share: the key of an environment, a managed key, the recovery key of an organization. */
export interface Shared {
  orgId: string
  /** The id of the environment or of the other thing. */
  id: string
  /** Tells one key of the thing from the next. Readers of another key count as unknown; undefined: any key. */
  key?: string | undefined
}

interface Reader {
  principalId: string
  publicKeyJwk: string
}

interface Known {
  key: string
  /** By principal, the fingerprint of the public key. */
  readers: Record<string, string>
}

/** By server and organization, then by the id of the thing that is shared. */
interface ReadersFile {
  version: 1
  shared: Record<string, Record<string, Known>>
}

const readersPath = () => join(configFolder(), 'known-readers.json')

const placeOf = (session: Session, orgId: string) => `${session.settings.url} ${orgId}`

/** The key of an environment, as this machine tells it from the one after a re-key. */
export const environmentShared = async (orgId: string, envId: string, key: { bytes: Bytes }): Promise<Shared> => ({
  orgId,
  id: envId,
  key: await fingerprintOf(key.bytes),
})

/** The keys of an environment's branches. A reader who was accepted for a branch is not thereby one of the environment. */
export const branchesShared = (parent: Shared): Shared => ({ ...parent, id: branchesOf(parent.id) })

const branchesOf = (envId: string) => `branches of ${envId}`

/** Readers to whom this machine has not given the key, and whom nobody has accepted. */
export async function unknownReaders<R extends Reader>(
  session: Session,
  { orgId, id, key }: Shared,
  readers: readonly R[],
): Promise<R[]> {
  const known = readFile().shared[placeOf(session, orgId)]?.[id]
  const isSameKey = known !== undefined && (key === undefined || known.key === key)
  const fingerprints = await Promise.all(readers.map(({ publicKeyJwk }) => fingerprint(publicKeyJwk)))
  return readers.filter(({ principalId }, at) => !isSameKey || known.readers[principalId] !== fingerprints[at])
}

/** This machine has given the key to these readers, or a person has accepted them. */
export async function noteReaders(session: Session, shared: Shared, readers: readonly Reader[]): Promise<void> {
  if (readers.length === 0) return
  const { orgId, id, key = '' } = shared
  const added = await Promise.all(
    readers.map(async ({ principalId, publicKeyJwk }) => [principalId, await fingerprint(publicKeyJwk)] as const),
  )
  change((file) => {
    const place = placeOf(session, orgId)
    const before = file.shared[place]?.[id]
    const kept = before?.key === key ? before.readers : {}
    const known: Known = { key, readers: { ...kept, ...Object.fromEntries(added) } }
    file.shared[place] = { ...file.shared[place], [id]: known }
  })
}

/** This machine has made the key of an environment, for its own principal and for these readers. */
export async function noteKeyMade(
  session: Session,
  place: { orgId: string; envId: string },
  key: { bytes: Bytes },
  readers: readonly Reader[] = [],
): Promise<void> {
  const own = { principalId: session.principal.id, publicKeyJwk: await ownPublicKey(session) }
  await noteReaders(session, await environmentShared(place.orgId, place.envId, key), [own, ...readers])
}

/** This machine has ended the reader's access: to one thing and its branches, or to all of the organization. */
export function forgetReader(session: Session, orgId: string, principalId: string, id?: string): void {
  change((file) => {
    for (const [sharedId, { readers }] of Object.entries(file.shared[placeOf(session, orgId)] ?? {}))
      if (id === undefined || id === sharedId || branchesOf(id) === sharedId) delete readers[principalId]
  })
}

function change(edit: (file: ReadersFile) => void): void {
  const path = readersPath()
  withLock(`${path}.lock`, () => {
    const file = readFile()
    const before = JSON.stringify(file)
    edit(file)
    if (JSON.stringify(file) !== before) writePrivate(path, `${JSON.stringify(file, null, 2)}\n`)
  })
}

function readFile(): ReadersFile {
  const text = readIfThere(readersPath())
  if (text === null) return { version: 1, shared: {} }
  try {
    const file = JSON.parse(text) as ReadersFile
    if (file.version === 1 && typeof file.shared === 'object' && file.shared !== null) return file
  } catch {
    // Told below.
  }
  const next = 'restore it, or move it away and compare the readers again'
  throw new Failure('failure', `${readersPath()} is not a list of known readers`, next)
}
