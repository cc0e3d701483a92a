import { signDocument } from '@skerry/crypto/directory/document'
import { type DirectoryEntry, parseEntry } from '@skerry/crypto/directory/entries'
import { nextHead, parseHead } from '@skerry/crypto/directory/head'
import { parseRoot } from '@skerry/crypto/directory/root'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { directoryTree } from '@skerry/crypto/directory/tree'
import type { Json } from '../../cli/test/hostile/liar.ts'
import type { Stage } from './stage.ts'

/** All entries that the honest server has. */
export async function entriesOf({ client, orgId }: Stage): Promise<DirectoryEntry[]> {
  const found: DirectoryEntry[] = []
  let cursor: string | undefined
  do {
    const page = await client.directory.entries({ params: { orgId }, query: cursor === undefined ? {} : { cursor } })
    found.push(...page.entries.map(parseEntry))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

interface Made {
  /** The directory of the honest answer. */
  from: Json
  entries: readonly DirectoryEntry[]
  /** The keys of the entries to prove. */
  keys: readonly string[]
  signer: DirectorySigner
  /** Unix seconds. */
  issuedAt: number
  /** The root that the head names; the newest unless given. */
  roots?: readonly string[]
  /** Makes a head that stands beside the newest one, and does not follow it. */
  beside?: boolean
}

/** Makes the directory part of an answer with a head that this signer signs. */
export async function signedDirectory({
  from,
  entries,
  keys,
  signer,
  issuedAt,
  beside,
  roots = from.roots,
}: Made): Promise<Json> {
  const root = await parseRoot(roots.at(-1) as string)
  const newest = await parseHead(from.heads.at(-1))
  const tree = await directoryTree(entries)
  const body = nextHead(newest, root, tree, issuedAt)
  const placed = beside ? { ...body, version: newest.body.version, prev: newest.body.prev } : body
  const head = await signDocument('od1', placed, [signer])
  return { roots, heads: beside ? [head] : [...from.heads, head], proofs: keys.flatMap((key) => tree.prove(key) ?? []) }
}
