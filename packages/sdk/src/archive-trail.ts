import type { ArchiveRow } from '@skerry/contract/export/archive-check'
import { decodeBase64url } from '@skerry/crypto/base64url'
import { decodeBase64, openCheckpoint } from '@skerry/crypto/checkpoint'
import { type GrowingTree, growTree, type Hasher, isSameHash, openHasher } from '@skerry/crypto/merkle'

/** Rebuilds the Merkle tree of the audit log from the rows of an archive, in their order. */
export interface ArchiveTrail {
  add(row: ArchiveRow): void
  /**
   * Returns how many entries are proven, and whether they give the root that the server signed. `isSigned` is null if
   * the archive has no checkpoint.
   *
   * @param publicKey of the server, base64url. Without it the signature of the checkpoint is not checked
   * @throws CryptoError if the checkpoint is malformed, about another audit log, or not signed with this key
   */
  finish(orgId: string, publicKey?: string): Promise<{ size: number; isSigned: boolean | null }>
}

interface Proof {
  checkpoint: string | null
  edge: { hash: string; leaves: number }[]
  size: number
}

/**
 * Collects the audit log of an archive while the archive is checked.
 *
 * @example
 * const trail = await openArchiveTrail()
 * await checkArchive(createReadStream('acme.skerry'), { sha256: () => createHash('sha256'), onRow: trail.add })
 */
export async function openArchiveTrail(): Promise<ArchiveTrail> {
  const hasher = await openHasher()
  const gaps = new Map<number, string>()
  let proof: Proof | undefined
  let tree: GrowingTree | undefined
  const passGaps = () => {
    for (let hash = gaps.get(tree?.size ?? 0); tree && hash !== undefined; hash = gaps.get(tree.size)) {
      tree.append(decodeBase64(hash))
    }
  }
  const add = ({ section, text }: ArchiveRow) => {
    if (section === 'auditProof') {
      proof = JSON.parse(text) as Proof
      tree = treeOf(hasher, proof)
    } else if (section === 'auditGaps') {
      const { index, hash } = JSON.parse(text)
      gaps.set(index, hash)
    } else if (section === 'audit' && tree) {
      passGaps()
      if (tree.size < (proof?.size ?? 0)) tree.append(hasher.leaf(JSON.parse(text)))
    }
  }
  return {
    add,
    async finish(orgId, publicKey) {
      passGaps()
      const { checkpoint = null, size = 0 } = proof ?? {}
      if (checkpoint === null) return { size, isSigned: null }
      const root = await rootOf(checkpoint, orgId, publicKey)
      return { size, isSigned: tree?.size === size && isSameHash(tree.root(), root) }
    },
  }
}

const treeOf = (hasher: Hasher, { edge }: Proof): GrowingTree =>
  growTree(
    hasher,
    edge.map(({ hash, leaves }) => ({ hash: decodeBase64(hash), leaves })),
  )

const rootOf = async (checkpoint: string, orgId: string, publicKey: string | undefined) =>
  publicKey === undefined
    ? decodeBase64(checkpoint.split('\n')[2] ?? '')
    : (await openCheckpoint(checkpoint, decodeBase64url(publicKey), `skerry/${orgId}`)).root
