import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { signDocument } from '@skerry/crypto/directory/document'
import { type DirectoryEntry, parseEntry } from '@skerry/crypto/directory/entries'
import { nextHead, parseHead } from '@skerry/crypto/directory/head'
import { parseRoot } from '@skerry/crypto/directory/root'
import { type DirectorySigner, signerOfMachine } from '@skerry/crypto/directory/signing'
import { directoryTree } from '@skerry/crypto/directory/tree'
import { newSigningMaterial } from '@skerry/crypto/kms-sign'
import type { Json } from '../../cli/test/hostile/liar.ts'
import { forgedEnvironment } from './forged-environment.ts'
import type { Stage } from './stage.ts'

export const ownKey = 'environment/shop/development'
export const groupKey = 'environment/shared:development'
export const nowSeconds = () => Math.floor(Date.now() / 1000)

/** A signer whom no root names. */
export const newStranger = async () => signerOfMachine((await newSigningMaterial('ecdsa-p256-sha256')).pkcs8)

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

/** An environment that the server made, and the entries of a directory in which a signer vouches for it. */
export async function vouchedEnvironment(stage: Stage) {
  const { answer, environmentId, key } = await forgedEnvironment(stage)
  const commitment = await environmentKeyCommitment(environmentId, key)
  const entries = (await entriesOf(stage)).map((entry): DirectoryEntry => {
    if (entry.key !== ownKey) return entry
    return { key: ownKey, value: { ...(entry.value as Json), id: environmentId, key: commitment } }
  })
  return { answer, entries, keys: [ownKey, groupKey] }
}

interface Made {
  /** The directory of the honest answer. */
  from: Json
  entries: readonly DirectoryEntry[]
  /** The keys of the entries to prove. */
  keys: readonly string[]
  signer: DirectorySigner
  /** Unix seconds. */
  issuedAt?: number
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
  issuedAt = nowSeconds(),
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
