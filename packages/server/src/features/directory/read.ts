import type { Directory } from '@skerry/contract/directory/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import type { StoredHead } from '../../keys/directory.ts'
import { treeOf } from './sign.ts'
import { findHead, findNewestHead, listHeads, listRoots } from './store.ts'

type Answer = Static<typeof Directory>

/** The roots and the head that the client knows already, and the entries that it asks for. */
export interface Asked {
  /** Hashes of roots that it trusts. */
  roots: readonly string[]
  /** The version of the head that it knows. */
  head: number | undefined
  keys: readonly string[]
}

/** Clients accept no longer chains. One that is further behind begins again from its pin. */
const rootsMax = 1001
const headsMax = 10_000

/**
 * Returns the directory as it was at its newest head, or at this one. Rows of the past stay, so all statements see the same
 * directory without a transaction.
 */
export async function readDirectory(
  { trees }: Pick<Context, 'trees'>,
  db: Sql,
  orgId: string,
  { roots, head: known, keys }: Asked,
  version?: number,
): Promise<Answer | null> {
  const head = await (version === undefined ? findNewestHead(db, orgId) : findHead(db, orgId, version))
  if (!head) return null
  return {
    roots: await listRoots(db, orgId, head.rootVersion, roots, rootsMax),
    heads: await listHeads(db, orgId, known ?? head.version, head.version, headsMax),
    proofs: keys.length === 0 ? [] : await prove(trees, db, orgId, head, keys),
  }
}

async function prove(trees: Context['trees'], db: Sql, orgId: string, head: StoredHead, keys: readonly string[]) {
  const tree = await treeOf(trees, db, orgId, head)
  return [...new Set(keys)].flatMap((key) => {
    const proof = tree.prove(key)
    return proof ? [{ ...proof, path: [...proof.path] }] : []
  })
}
