import { keyring } from '../keyring.ts'
import { readersPrompt } from '../prompts.ts'
import { checkKeys } from './pins.ts'

// The server lists who holds a key. A malicious server could add a reader of its own and receive the next key. So this
// browser remembers the readers that its user gave each key to, or accepted. It stores fingerprints of public keys,
// which are no secret.

const storageName = 'skerry-known-readers'

/** A key that several readers share: of an environment, a managed key, or an organization's recovery key. */
export interface Shared {
  id: string
  /**
   * Identifies the current key, so that readers of an earlier key count as unknown. Empty if readers stay known for
   * every key, as for managed keys.
   */
  key: string
}

interface Reader {
  principalId: string
  publicKeyJwk: string
}

/** For each ID: which key it is, and the fingerprint of each reader's public key by principal. */
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

/** Identifies an environment's key by this person's wrapped copy. */
export const environmentShared = async (id: string, wrappedDek: string): Promise<Shared> => ({
  id,
  key: await keyring.call('environmentKeyId', { wrappedDek }),
})

/**
 * Identifies the keys of an environment's branches. A reader accepted for a branch is not thereby accepted for the
 * environment.
 */
export const branchesShared = (parent: Shared): Shared => ({ ...parent, id: branchesOf(parent.id) })

const branchesOf = (envId: string) => `branches of ${envId}`

/** Remembers readers that the person has accepted or given the key to. */
export async function noteReaders({ id, key }: Shared, readers: readonly Reader[]): Promise<void> {
  if (readers.length === 0) return
  const checked = await checkKeys([...readers])
  const known = readKnown()
  const kept = known[id]?.key === key ? known[id].readers : {}
  const added = readers.map(({ principalId }, i) => [principalId, checked[i]?.fingerprint ?? ''] as const)
  writeKnown({ ...known, [id]: { key, readers: { ...kept, ...Object.fromEntries(added) } } })
}

/** Forgets a reader whose access has ended: for one key and the branches below it, or for all keys. */
export function forgetReader(principalId: string, sharedId?: string): void {
  const known = readKnown()
  for (const [id, { readers }] of Object.entries(known))
    if (sharedId === undefined || sharedId === id || branchesOf(sharedId) === id) delete readers[principalId]
  writeKnown(known)
}

/** The question in the dialog. */
export interface ReadersQuestion {
  /** The key that the readers would get: `the new key of Production`. */
  what: string
  readers: { name: string; words: string }[]
}

let asked: ReadersQuestion = { what: '', readers: [] }
export const readersQuestion = (): ReadersQuestion => asked

/**
 * Asks the person to accept readers that the server lists and this browser does not know. Call it before you wrap a key
 * to them.
 *
 * @param source readers of this key are accepted without a question, as a branch is for those who read its parent. They
 * are not remembered as readers of `source`.
 * @throws Cancelled if the person declines. Then wrap nothing.
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
