import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { type AuditArchiveHeader, auditArchiveFormat } from '@skerry/contract/audit/archive'
import { limits } from '@skerry/contract/limits'
import canonicalize from 'canonicalize'
import type { Database, Sql } from '../../db/database.ts'
import { recordIn, system } from '../../kernel/audit.ts'
import {
  type AuditArchive,
  deleteArchived,
  findFirstSince,
  findSent,
  insertArchives,
  listArchives,
} from './archive-store.ts'
import { spelt } from './archived.ts'
import { toBase64, withNodes } from './audit-proof.ts'
import { findTree, listLeaves, lockTree } from './store.ts'
import { append, consistencyProof, edgeOf, leafHash, rangeHash, rootOf, type Subtree } from './tree.ts'

/** Thrown when nothing can be archived. The message has the reason. */
class NotArchivable extends Error {}

interface OrgId {
  id: string
}

/** Entries to archive, with the hashes that prove them. */
interface Plan {
  header: AuditArchiveHeader
  edge: Subtree[]
  /** The root of the tree that ends with the last archived entry, from the stored hashes. */
  root: string
}

/**
 * Writes the entries before an instant to a new file, reads the file again, and then removes the entries in one
 * transaction, which records `audit.archived`. The hashes stay. After an interruption, the entries are in the database
 * or the file is complete.
 *
 * @param before entries at or after this instant stay
 * @param path of a file that does not exist yet
 */
export async function archiveTrail(
  { db, now }: { db: Database; now: () => Date },
  org: OrgId,
  { before, path }: { before: string; path: string },
): Promise<{ entries: number; sha256: string }> {
  const plan = await planArchive(db, org, before)
  const { start, size } = plan.header
  const written = await writeFile(db, org, plan, path)
  if ((await digestOf(path)) !== written) throw new NotArchivable(`${path} cannot be read back as it was written`)
  const createdAt = now().toISOString()
  const archive: AuditArchive = { start, size, sha256: written, createdAt }
  await db
    .transaction(async (tx) => {
      await lockTree(tx, org)
      if ((await endOfArchives(tx, org)) !== start)
        throw new NotArchivable('somebody else archived entries of this trail meanwhile; try again')
      await insertArchives(tx, org, [archive])
      const removed = await deleteArchived(tx, org, archive)
      if (removed !== size - start) throw new NotArchivable('entries of the trail were removed meanwhile')
      recordIn({ now }, tx, system, {
        orgId: org.id,
        action: 'audit.archived',
        resourceId: org.id,
        metadata: { before, from: start, to: size, root: plan.root, sha256: written },
      })
    })
    .catch(async (error) => {
      // The entries are still in the database. After any other failure, this file may be their only copy.
      if (error instanceof NotArchivable) await rm(path)
      throw error
    })
  return { entries: size - start, sha256: written }
}

const endOfArchives = async (db: Sql, org: OrgId): Promise<number> => (await listArchives(db, org)).at(-1)?.size ?? 0

async function planArchive(db: Sql, org: OrgId, before: string): Promise<Plan> {
  const tree = await findTree(db, org)
  if (!tree) throw new NotArchivable('nothing of this organization is sealed yet')
  if (tree.brokenAt !== null) throw new NotArchivable('the stored hashes of this audit log were changed')
  const { checkpoint } = tree
  if (checkpoint === null) throw new NotArchivable('the trail is not signed, because the server has no server key')
  const start = await endOfArchives(db, org)
  const size = (await findFirstSince(db, org, start, before)) ?? tree.size
  if (size === start) throw new NotArchivable('there are no sealed entries from before that are not archived')
  const sent = await findSent(db, org)
  if (sent !== undefined && sent < size)
    throw new NotArchivable(
      `the log sink has sent only the first ${sent} of ${size} entries; wait for it, or remove it`,
    )
  return await withNodes(db, org, (get) => ({
    header: {
      format: auditArchiveFormat,
      orgId: org.id,
      start,
      size,
      edge: edgeOf(get, start).map(spelt),
      checkpoint,
      consistency: consistencyProof(get, size, tree.size).map(toBase64),
    },
    edge: edgeOf(get, start),
    root: toBase64(rangeHash(get, 0, size)),
  }))
}

/** Returns the SHA-256 of the file. If an entry was changed after it was sealed, this removes the file and fails. */
async function writeFile(db: Sql, org: OrgId, plan: Plan, path: string): Promise<string> {
  const file = await open(path, 'wx', 0o600)
  try {
    const sha256 = createHash('sha256')
    for await (const text of linesOf(db, org, plan)) {
      sha256.update(text)
      await file.writeFile(text)
    }
    await file.sync()
    return sha256.digest('hex')
  } catch (error) {
    await rm(path)
    throw error
  } finally {
    await file.close()
  }
}

async function* linesOf(db: Sql, org: OrgId, { header, edge, root }: Plan): AsyncGenerator<string> {
  yield `${canonicalize(header)}\n`
  const { start, size } = header
  const tree = [...edge]
  for (let from = start; from < size; from += limits.auditLeavesMax) {
    const leaves = await listLeaves(db, org, from, Math.min(size, from + limits.auditLeavesMax))
    for (const { entryId, entry, hash } of leaves) {
      if (!entry) throw new NotArchivable(`entry ${entryId} was removed after it was sealed`)
      const own = leafHash(entry)
      if (toBase64(own) !== hash) throw new NotArchivable(`entry ${entryId} was changed after it was sealed`)
      append(tree, own)
    }
    yield leaves.map(({ entry }) => `${canonicalize(entry)}\n`).join('')
  }
  if (toBase64(rootOf(tree)) !== root) throw new NotArchivable('the stored hashes of this audit log were changed')
}

async function digestOf(path: string): Promise<string> {
  const sha256 = createHash('sha256')
  for await (const piece of createReadStream(path)) sha256.update(piece)
  return sha256.digest('hex')
}
