import type { Sql, Tx } from '../../db/database.ts'
import type { SignDirectory } from '../../http/context.ts'
import { fail } from '../../kernel/errors.ts'
import {
  type OpenedEntry,
  openDocuments,
  type Reader,
  type StoredHead,
  staleHead,
  type Tree,
  type Trees,
  treeOver,
} from '../../keys/directory.ts'
import { differingMember, type Fact, findFacts } from './facts.ts'
import { findNewest, insertHead, insertReaders, insertRoot, listTexts, replaceEntries } from './store.ts'

/**
 * Stores what a signer has signed, in the transaction of the change that it is about. Everything is refused together.
 *
 * The head is inserted before anything is compared: of two transactions with the same version, the second one waits for the
 * first, and is then refused with 409.
 */
export const sign: SignDirectory = async ({ trees, now }, { db, audit }, { orgId, signed, place, starts }) => {
  const at = now()
  const newest = await findNewest(db, orgId)
  if (!newest && !starts) throw fail('conflict', `${place}: the organization has no directory: start it first`)
  const { root, head, entries } = await openDocuments(signed, { orgId, newest, place, now: at })
  const instant = at.toISOString()
  if (root && !(await insertRoot(db, orgId, root, instant))) throw staleHead(place, await findNewest(db, orgId))
  if (!(await insertHead(db, orgId, head, instant))) throw staleHead(place, await findNewest(db, orgId))
  const before = newest ? await treeOf(trees, db, orgId, newest.head) : await treeOver(new Map())
  const changed = entries.filter(({ key, text }) => (before.texts.get(key) ?? null) !== text)
  await requireTree(trees, before, changed, head, place)
  const lists = await requireFacts(db, { orgId, now: instant, place }, entries)
  if (lists.length > 0) await insertReaders(db, orgId, lists)
  if (changed.length > 0) await replaceEntries(db, orgId, head.version, changed)
  const counts = { head: head.version, entries: entries.length }
  if (!newest) audit('directory.started', orgId, { ...counts, root: root?.version })
  else {
    if (root) audit('directory.root_changed', orgId, { root: root.version, head: head.version })
    if (!root || entries.length > 0) audit('directory.signed', orgId, counts)
  }
  return { version: head.version, hash: head.hash }
}

/** The tree of a stored head. */
export const treeOf = (trees: Trees, db: Sql, orgId: string, head: StoredHead): Promise<Tree> =>
  trees.of(head.entries, () => listTexts(db, orgId, head.version))

/** Refuses a head that names other entries than the ones after this change. */
async function requireTree(
  trees: Trees,
  before: Tree,
  changed: readonly OpenedEntry[],
  head: StoredHead,
  place: string,
): Promise<void> {
  const tree = changed.length === 0 ? before : await treeOver(textsAfter(before, changed))
  if (tree.count !== head.count || tree.entries !== head.entries)
    throw fail(
      'invalid_request',
      `${place}.head: names ${head.count} entries with the root ${head.entries}, but this change makes ${tree.count} with the root ${tree.entries}`,
    )
  trees.keep(tree)
}

function textsAfter({ texts }: Tree, changed: readonly OpenedEntry[]): ReadonlyMap<string, string> {
  const next = new Map(texts)
  for (const { key, text } of changed) {
    if (text === null) next.delete(key)
    else next.set(key, text)
  }
  return next
}

/**
 * Refuses an entry that differs from what the database has now, after the change in this transaction -> the readers behind
 * the hashes in the entries.
 */
async function requireFacts(
  db: Tx,
  { orgId, now, place }: { orgId: string; now: string; place: string },
  entries: readonly OpenedEntry[],
): Promise<{ hash: string; readers: Reader[] }[]> {
  const keys = entries.map(({ key }) => key)
  const facts = await findFacts(db, orgId, now, keys)
  for (const entry of entries) {
    const problem = await problemOf(entry, facts.get(entry.key))
    if (problem !== null) throw fail('conflict', `${place}.entries: ${entry.key}: ${problem}`)
  }
  return entries.flatMap(({ key, value }) => {
    const readers = facts.get(key)?.readers
    return value && 'readers' in value && readers ? [{ hash: value.readers, readers }] : []
  })
}

async function problemOf(entry: OpenedEntry, fact: Fact | undefined): Promise<string | null> {
  if (entry.value === null) return fact ? 'it exists, so its entry cannot end' : null
  if (!fact) return 'nothing here has such an entry'
  const member = await differingMember(entry.value, fact)
  return member && `${member} is not what the server has: read the claims and sign again`
}
