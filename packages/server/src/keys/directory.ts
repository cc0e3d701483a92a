import { fingerprint } from '@skerry/crypto/digest'
import { type Reader, readersHash } from '@skerry/crypto/directory/commitments'
import { type DirectoryEntry, parseEntry, requireEntryKey } from '@skerry/crypto/directory/entries'
import { type HeadDocument, parseHead, requireNextHead, requireSignedHead } from '@skerry/crypto/directory/head'
import { openRoot, parseRoot, type RootDocument, requireNextRoot } from '@skerry/crypto/directory/root'
import { type DirectoryTree, treeOfTexts } from '@skerry/crypto/directory/tree'
import { CryptoError } from '@skerry/crypto/errors'
import { fail, type Refusal } from '../kernel/errors.ts'

// Checks of the signed directory that keep mistakes out. No client relies on them: each verifies the texts itself.

/** The newest documents of an organization. */
export interface Newest {
  root: StoredRoot
  head: StoredHead
}

export interface StoredRoot {
  version: number
  hash: string
  text: string
}

export interface StoredHead extends StoredRoot {
  rootVersion: number
  /** The number of entries, and the root of their tree. */
  count: number
  entries: string
}

/** The part of a request that a signer has signed. `text` is null for an entry that ends. */
export interface SignedDocuments {
  root?: string | undefined
  head: string
  entries: readonly { key: string; text: string | null }[]
}

/** The documents after their checks, ready to be stored. */
export interface OpenedDocuments {
  /** Null if the newest root stays. */
  root: StoredRoot | null
  head: StoredHead
  entries: OpenedEntry[]
}

export interface OpenedEntry {
  key: string
  text: string | null
  /** Null for an entry that ends. */
  value: DirectoryEntry['value'] | null
}

interface About {
  orgId: string
  newest: Newest | null
  /** Where the documents are in the request: begins every refusal. */
  place: string
  now: Date
}

const futureSeconds = 600

/**
 * Checks documents against the newest ones: their form, signatures and times, and that they follow. Whether the head has
 * the entries is checked with {@link Tree}.
 *
 * @throws Refusal `conflict` if the directory has a newer head or root, otherwise `invalid_request`.
 */
export async function openDocuments(signed: SignedDocuments, about: About): Promise<OpenedDocuments> {
  const { newest, place } = about
  const head = await checked(`${place}.head`, () => parseHead(signed.head))
  const given = signed.root === undefined ? null : await checked(`${place}.root`, () => openRoot(signed.root as string))
  const entries = openEntries(signed.entries, place)
  requireNewest(head, given, about)
  const before = newest && (await parseRoot(newest.root.text))
  const root = given ?? before
  if (!root) throw fail('invalid_request', `${place}.root: a directory starts with a root`)
  if (given) await checked(`${place}.root`, () => requireRoot(before, given, about))
  await checked(`${place}.head`, () => requireHead(root, head, about))
  return {
    root: given && { version: given.body.version, hash: given.hash, text: signed.root as string },
    head: {
      version: head.body.version,
      hash: head.hash,
      text: signed.head,
      rootVersion: root.body.version,
      count: head.body.count,
      entries: head.body.entries,
    },
    entries,
  }
}

/** Compares first with what is stored, so that of two signers at once the second one learns to fetch and repeat. */
function requireNewest(head: HeadDocument, root: RootDocument | null, { newest, place }: About): void {
  const { version, prev } = head.body
  if (version !== (newest?.head.version ?? 0) + 1 || prev !== (newest?.head.hash ?? null))
    throw staleHead(place, newest)
  if (root === null) return
  const follows =
    root.body.version === (newest?.root.version ?? 0) + 1 && root.body.prev === (newest?.root.hash ?? null)
  if (follows) return
  const stored = newest ? `the newest root is ${newest.root.version} (${newest.root.hash})` : 'there is no root'
  throw fail('conflict', `${place}.root: ${stored}, and this one follows another: fetch the directory and sign again`)
}

export const staleHead = (place: string, newest: Newest | null): Refusal =>
  fail(
    'conflict',
    newest
      ? `${place}.head: the newest head is ${newest.head.version} (${newest.head.hash}), and this one follows another: fetch the directory and sign again`
      : `${place}.head: the organization has no directory, and this head is not the first one`,
  )

async function requireRoot(before: RootDocument | null, root: RootDocument, { orgId }: About): Promise<void> {
  if (root.body.org !== orgId) throw new CryptoError('directory_other_org')
  if (before) await requireNextRoot(before, root)
}

async function requireHead(root: RootDocument, head: HeadDocument, { newest, now }: About): Promise<void> {
  await requireSignedHead(head, root)
  if (newest) {
    const { body, hash } = await parseHead(newest.head.text)
    requireNextHead({ version: body.version, hash, time: body.issuedAt }, head)
  }
  if (head.body.issuedAt > now.getTime() / 1000 + futureSeconds)
    throw new CryptoError('directory_from_future', 'it is dated more than ten minutes after the clock of the server')
}

function openEntries(entries: SignedDocuments['entries'], place: string): OpenedEntry[] {
  const keys = new Set<string>()
  return entries.map(({ key, text }, index) => {
    const at = `${place}.entries.${index}`
    if (keys.has(key)) throw fail('invalid_request', `${at}.key: ${key} comes twice`)
    keys.add(key)
    return asRefusal(at, () => {
      requireEntryKey(key)
      const value = text === null ? null : parseEntry(text)
      if (value && value.key !== key) throw fail('invalid_request', `${at}.text: is the entry ${value.key}, not ${key}`)
      return { key, text, value: value?.value ?? null }
    })
  })
}

async function checked<T>(place: string, check: () => Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    throw refusalOf(place, error)
  }
}

function asRefusal<T>(place: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw refusalOf(place, error)
  }
}

/** The messages of the package are fixed text, and name public keys and ids at most. */
const refusalOf = (place: string, error: unknown): unknown =>
  error instanceof CryptoError ? fail('invalid_request', `${place}: ${error.message}`) : error

/** All entries of a head, with their tree. */
export interface Tree extends DirectoryTree {
  /** The text of each entry, by key. */
  texts: ReadonlyMap<string, string>
}

/** Computes the tree over entries that {@link openDocuments} has checked. */
export const treeOver = async (texts: ReadonlyMap<string, string>): Promise<Tree> => ({
  texts,
  ...(await treeOfTexts(texts)),
})

/** Keeps the trees that were used last. The root of a tree stands for all of its entries, so nothing here can be stale. */
export interface Trees {
  /** Returns the tree with this root. `read` gives its entries, if the tree is not kept. */
  of(root: string, read: () => Promise<ReadonlyMap<string, string>>): Promise<Tree>
  keep(tree: Tree): void
}

const keptBytesMax = 32 * 1024 * 1024
/** The memory that an entry takes beside its text: its place in two maps, and two hashes. */
const besideBytes = 500

/** @param bytesMax how much memory the kept trees may take together; the newest tree is always kept */
export function openTrees(bytesMax = keptBytesMax): Trees {
  const kept = new Map<string, { tree: Tree; bytes: number }>()
  let bytes = 0
  const drop = (root: string) => {
    bytes -= kept.get(root)?.bytes ?? 0
    kept.delete(root)
  }
  const keep = (tree: Tree) => {
    const own = kept.get(tree.entries)?.bytes ?? bytesOf(tree)
    drop(tree.entries)
    kept.set(tree.entries, { tree, bytes: own })
    bytes += own
    for (const root of kept.keys()) {
      if (bytes <= bytesMax || kept.size === 1) break
      drop(root)
    }
  }
  return {
    keep,
    async of(root, read) {
      const tree = kept.get(root)?.tree ?? (await treeOver(await read()))
      keep(tree)
      return tree
    },
  }
}

const bytesOf = ({ texts }: Tree): number =>
  [...texts.values()].reduce((sum, text) => sum + text.length + besideBytes, 0)

/** The thumbprint of a public key, by which entries name it. */
export const thumbprint = (publicKeyJwk: string): Promise<string> => fingerprint(publicKeyJwk)

export type { Reader }

/** The hash by which the entry of an environment or a managed key names its readers. */
export const hashOfReaders = (readers: readonly Reader[]): Promise<string> => readersHash(readers)
