import { keyring } from '../keyring.ts'
import { readersPrompt } from '../prompts.ts'
import { checkKeys } from './pins.ts'

// The server says who holds a key. A hostile server could list a reader of its own, and be given the next key. This
// browser remembers to whom its person gave each key, and whom they accepted. Fingerprints of keys; nothing here is a secret.

const storageName = 'skerry-known-readers'

/** Something that readers share: the key of an environment, a managed key, the recovery key of an organization. */
export interface Shared {
  id: string
  /** Tells one key of the thing from the next: readers of another key are unknown. */
  key: string
}

interface Reader {
  principalId: string
  publicKeyJwk: string
}

/** By the id of the thing: which key, and by principal the fingerprint of the public key. */
type KnownReaders = Record<string, { key: string; readers: Record<string, string> }>

function readKnown(): KnownReaders {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return typeof known === 'object' && known !== null ? (known as KnownReaders) : {}
  } catch {
    return {}
  }
}

const writeKnown = (known: KnownReaders) => localStorage.setItem(storageName, JSON.stringify(known))

/** The key of an environment, as this person holds it. */
export const environmentShared = async (id: string, wrappedDek: string): Promise<Shared> => ({
  id,
  key: await keyring.call('environmentKeyId', { wrappedDek }),
})

/** The keys of an environment's branches. A reader who was accepted for a branch is not thereby one of the environment. */
export const branchesShared = (parent: Shared): Shared => ({ ...parent, id: branchesOf(parent.id) })

const branchesOf = (envId: string) => `branches of ${envId}`

/** The person has given the key to these readers, or accepted them. */
export async function noteReaders({ id, key }: Shared, readers: readonly Reader[]): Promise<void> {
  if (readers.length === 0) return
  const checked = await checkKeys([...readers])
  const known = readKnown()
  const kept = known[id]?.key === key ? known[id].readers : {}
  const added = readers.map(({ principalId }, i) => [principalId, checked[i]?.fingerprint ?? ''] as const)
  writeKnown({ ...known, [id]: { key, readers: { ...kept, ...Object.fromEntries(added) } } })
}

/** The person has ended the reader's access: to one thing and its branches, or to everything. */
export function forgetReader(principalId: string, sharedId?: string): void {
  const known = readKnown()
  for (const [id, { readers }] of Object.entries(known))
    if (sharedId === undefined || sharedId === id || branchesOf(sharedId) === id) delete readers[principalId]
  writeKnown(known)
}

/** What the dialog shows. */
export interface ReadersQuestion {
  /** What the readers would get: `the new key of Production`. */
  what: string
  readers: { name: string; words: string }[]
}

let asked: ReadersQuestion = { what: '', readers: [] }
export const readersQuestion = (): ReadersQuestion => asked

/**
 * To be called before a key is wrapped to readers that the server lists: asks the person about those whom this browser does not
 * know.
 *
 * @param source readers of the source get the key unasked: a branch is for those who read its parent. The source gains no reader.
 * @throws Cancelled, and then nothing is to be wrapped.
 */
export async function acceptReaders(
  shared: Shared,
  what: string,
  readers: readonly (Reader & { shownAs: string })[],
  source?: Shared,
): Promise<void> {
  const checked = await checkKeys([...readers])
  const known = readKnown()
  const reads = ({ id, key }: Shared, principalId: string, i: number) =>
    known[id]?.key === key && known[id].readers[principalId] === checked[i]?.fingerprint
  const isKnown = ({ principalId }: Reader, i: number) =>
    reads(shared, principalId, i) || (source !== undefined && reads(source, principalId, i))
  const unknown = readers.map((one, i) => ({ one, i })).filter(({ one, i }) => !isKnown(one, i))
  if (unknown.length === 0) return
  asked = { what, readers: unknown.map(({ one, i }) => ({ name: one.shownAs, words: checked[i]?.words ?? '' })) }
  await readersPrompt.ask()
  await noteReaders(
    shared,
    unknown.map(({ one }) => one),
  )
}
