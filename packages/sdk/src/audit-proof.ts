import type { audit } from '@skerry/contract/audit/endpoints'
import type { auditProof } from '@skerry/contract/audit-proof/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { type Bytes, decodeBase64url } from '@skerry/crypto/base64url'
import { type Checkpoint, decodeBase64, openCheckpoint } from '@skerry/crypto/checkpoint'
import { CryptoError } from '@skerry/crypto/errors'
import { growTree, type Hasher, isSameHash, openHasher, rootsOfConsistency } from '@skerry/crypto/merkle'
import { findDamage, type SealedEntry } from './audit-damage.ts'
import type { Client } from './client.ts'
import { SkerryError } from './errors.ts'
import { pagesOf } from './pages.ts'

/**
 * The checkpoint that a client keeps, to detect a server that goes back to an older audit log. None of it is secret.
 */
export interface SeenCheckpoint {
  /** The signed note, as received. */
  note: string
  /** The server's key, base64url. */
  publicKey: string
}

/** Something that an honest server never shows. `index` and `entryId` name the entry, if it is known. */
export interface Finding {
  kind:
    | 'changed'
    | 'removed'
    | 'put_between'
    | 'other_history'
    | 'other_archive'
    | 'shorter'
    | 'other_key'
    | 'not_as_signed'
    | 'unsealed'
  message: string
  index?: number
  entryId?: string
}

export interface Verified {
  size: number
  checkpoint: string
  publicKey: string
  findings: Finding[]
  /** Entries that the operator has moved into files. `unread` counts those for which no file was given. */
  archived: { entries: number; unread: number }
}

/** The proof from a file of archived entries: entries `start` to `size` - 1, after all earlier ones, give `root`. */
export interface ProvenArchive {
  orgId: string
  start: number
  size: number
  /** The root of the first `size` entries, base64. */
  root: string
}

type Leaf = Answer<typeof auditProof.leaves>['leaves'][number]

/** The checkpoint that the server signed last. */
export interface SignedCheckpoint extends SeenCheckpoint {
  parsed: Checkpoint
  /** Set if the server has found its audit log changed, and therefore seals no more entries. */
  unsealed: Finding[]
}

/**
 * Fetches the current checkpoint and checks its signature.
 *
 * @throws CryptoError; the errors of `client`.
 */
export async function fetchCheckpoint(client: Client, orgId: string): Promise<SignedCheckpoint> {
  const [{ checkpoint: note, brokenAt }, { publicKey }] = await Promise.all([
    client.auditProof.checkpoint({ params: { orgId } }),
    client.auditProof.exportKey({}),
  ])
  const message = `the server found that stored hashes of the audit log were changed, and has sealed no entry since ${brokenAt}`
  const unsealed: Finding[] = brokenAt === null ? [] : [{ kind: 'unsealed', message }]
  return { note, publicKey, parsed: await open({ note, publicKey }, orgId), unsealed }
}

const open = ({ note, publicKey }: SeenCheckpoint, orgId: string): Promise<Checkpoint> =>
  openCheckpoint(note, decodeBase64url(publicKey), `skerry/${orgId}`)

/**
 * Opens a checkpoint that the server signed with one of several keys, such as its current and its earlier keys.
 *
 * @throws CryptoError `other_checkpoint_key` if the checkpoint names none of the keys; the errors of `openCheckpoint`.
 */
export async function openSigned(note: string, publicKeys: readonly string[], orgId: string): Promise<Checkpoint> {
  for (const publicKey of publicKeys) {
    try {
      return await open({ note, publicKey }, orgId)
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code !== 'other_checkpoint_key') throw error
    }
  }
  throw new CryptoError('other_checkpoint_key')
}

/** Entries are sealed in the order of their transactions. A slow transaction may be this late. */
const lateMs = 10 * 60 * 1000

/**
 * Reads the whole audit log. It checks, with hashes and one signature only, that the log is what was signed, and that
 * it continues what was seen before.
 *
 * A missing entry is no finding if a sealed `audit.archived` names the hash over it and all entries before it.
 *
 * @param seen the checkpoint that this client saw last, if any
 * @param archives proofs of archived entries, from `readAuditArchive`
 * @example
 * const first = await verifyTrail(client, orgId)
 * const seen = { note: first.checkpoint, publicKey: first.publicKey } // keep it if there are no findings
 * const { findings } = await verifyTrail(client, orgId, seen)
 */
export async function verifyTrail(
  client: Client,
  orgId: string,
  seen?: SeenCheckpoint,
  archives: readonly ProvenArchive[] = [],
): Promise<Verified> {
  // The list is read first. Every entry in it that is not recent must then be in the checkpoint.
  const listed = await listEntries(client, orgId)
  const { note, publicKey, parsed, unsealed } = await fetchCheckpoint(client, orgId)
  const findings: Finding[] = []
  if (seen && seen.publicKey !== publicKey)
    findings.push({ kind: 'other_key', message: 'the server signs with a different key than before' })
  const before = seen && (await open(seen, orgId))
  if (before && before.size > parsed.size)
    findings.push({
      kind: 'shorter',
      message: `the audit log had ${before.size} entries, but now has only ${parsed.size}`,
    })
  const hasher = await openHasher()
  const walk: Walk = {
    hasher,
    tree: growTree(hasher),
    findings,
    sealed: new Set(),
    newest: '',
    gone: [],
    moves: movesOf(listed),
    roots: new Map([...movesOf(listed), ...archives, ...(before ? [before] : [])].map(({ size }) => [size, ''])),
  }
  for await (const leaf of leavesOf(client, orgId, parsed.size)) {
    checkLeaf(walk, leaf)
    const { size } = walk.tree
    if (walk.roots.has(size)) walk.roots.set(size, encodeBase64(walk.tree.root()))
  }
  const archived = checkGone(walk, archives)
  if (!isSameHash(walk.tree.root(), parsed.root) && findings.length === 0)
    findings.push(await notAsSigned(client, orgId, parsed, hasher))
  if (before && before.size <= parsed.size && !(await goesOnFrom(client, orgId, before, parsed, walk)))
    findings.push(otherHistory(before.size))
  findings.push(...neverSealed(listed, walk.sealed, walk.newest), ...unsealed)
  return { size: parsed.size, checkpoint: note, publicKey, findings, archived }
}

const otherHistory = (size: number): Finding => ({
  kind: 'other_history',
  message: `the first ${size} entries do not match the checkpoint that was seen before`,
})

/**
 * If the entries differ from what was signed, they do not match the earlier checkpoint either. Then the server has to
 * prove that its signed log continues the earlier one.
 */
async function goesOnFrom(client: Client, orgId: string, before: Checkpoint, signed: Checkpoint, walk: Walk) {
  if (isSameHash(walk.tree.root(), signed.root))
    return before.size === 0 || walk.roots.get(before.size) === encodeBase64(before.root)
  try {
    return await isProvenBeginning(client, orgId, before, signed)
  } catch (error) {
    // The server proves nothing about an audit log that it has found changed. The refusal to prove it is therefore a
    // finding.
    if (error instanceof SkerryError && error.code === 'conflict') return true
    throw error
  }
}

interface Walk {
  hasher: Hasher
  tree: ReturnType<typeof growTree>
  findings: Finding[]
  sealed: Set<string>
  newest: string
  /** Leaves whose entries no longer exist. */
  gone: Leaf[]
  moves: Move[]
  /** The roots at the sizes that are compared later, base64. */
  roots: Map<number, string>
}

/** The content of an entry `audit.archived`: the first `size` entries, which give this root, are in files. */
interface Move {
  id: string
  size: number
  root: string
}

const movesOf = (entries: readonly Listed[]): Move[] =>
  entries.flatMap(({ id, action, metadata: { to, root } }) =>
    action === 'audit.archived' && typeof to === 'number' && typeof root === 'string' ? [{ id, size: to, root }] : [],
  )

/** Encodes a hash as the API and the notes do. */
export const encodeBase64 = (hash: Bytes): string => btoa(String.fromCharCode(...hash))

/** Builds the tree from the entries themselves. The server's hash is used only where the entry no longer exists. */
function checkLeaf(walk: Walk, { index, entryId, createdAt, hash, entry }: Leaf): void {
  const place = { index, entryId }
  const told = decodeBase64(hash)
  const own = entry ? walk.hasher.leaf(entry) : told
  if (entry && (entry.id !== entryId || !isSameHash(own, told)))
    walk.findings.push({ kind: 'changed', message: `entry ${entryId} was changed after it was sealed`, ...place })
  if (!entry) walk.gone.push({ index, entryId, createdAt, hash, entry })
  // The sealed entry counts, not the one that was listed under the same id.
  if (entry) walk.moves = [...walk.moves.filter(({ id }) => id !== entryId), ...movesOf([entry])]
  if (isLate(createdAt, walk.newest))
    walk.findings.push({
      kind: 'put_between',
      message: `entry ${entryId} was added later than its time says`,
      ...place,
    })
  walk.tree.append(own)
  walk.sealed.add(entryId)
  if (createdAt > walk.newest) walk.newest = createdAt
}

/** An entry may be missing if it was moved into a file. If the file was given, it must contain what was sealed. */
function checkGone(walk: Walk, archives: readonly ProvenArchive[]): Verified['archived'] {
  const moved = Math.max(
    0,
    ...walk.moves.filter(({ size, root }) => walk.roots.get(size) === root).map(({ size }) => size),
  )
  const archived = walk.gone.filter(({ index }) => index < moved)
  for (const { index, entryId } of walk.gone.slice(archived.length))
    walk.findings.push({ kind: 'removed', message: `entry ${entryId} was removed after it was sealed`, index, entryId })
  const read = archives.filter(({ size, root }) => walk.roots.get(size) === root)
  for (const { start, size } of archives.filter((archive) => !read.includes(archive)))
    walk.findings.push({
      kind: 'other_archive',
      message: `the archive of entries ${start} to ${size - 1} does not belong to this audit log`,
      index: start,
    })
  const isRead = (index: number) => read.some(({ start, size }) => start <= index && index < size)
  return { entries: archived.length, unread: archived.filter(({ index }) => !isRead(index)).length }
}

const isLate = (createdAt: string, newest: string) =>
  newest !== '' && Date.parse(newest) - Date.parse(createdAt) > lateMs

/** Finds the entries that somebody changed together with their stored hashes. */
async function notAsSigned(client: Client, orgId: string, signed: Checkpoint, hasher: Hasher): Promise<Finding> {
  const entries: SealedEntry[] = []
  for await (const { entryId, hash, entry } of leavesOf(client, orgId, signed.size))
    entries.push({ id: entryId, hash: entry ? hasher.leaf(entry) : decodeBase64(hash) })
  const { start, end, isProven } = await findDamage(client, orgId, { hasher, signed, entries })
  const [first, last] = [entries[start]?.id, entries[end - 1]?.id]
  const which = end - start > 1 ? `one of the entries ${start} to ${end - 1}, ${first} to ${last},` : `entry ${first}`
  const tells = isProven ? '' : 'according to the stored hashes, '
  const message = `${tells}${which} does not match the server’s signature: it was changed together with its stored hash`
  return { kind: 'not_as_signed', message, index: start }
}

/** Finds entries that the audit log shows but no tree contains, although younger entries are sealed. */
const neverSealed = (listed: { id: string; createdAt: string }[], sealed: Set<string>, newest: string): Finding[] =>
  listed
    .filter(({ id, createdAt }) => !sealed.has(id) && isLate(createdAt, newest))
    .map(({ id }) => ({ kind: 'put_between', message: `entry ${id} was never sealed`, entryId: id }))

type Listed = Pick<Answer<typeof audit.list>['entries'][number], 'id' | 'action' | 'createdAt' | 'metadata'>

/** Keeps only the metadata that is needed, because metadata may be long. */
async function listEntries(client: Client, orgId: string): Promise<Listed[]> {
  const found: Listed[] = []
  const read = (page: object) => client.audit.list({ params: { orgId }, query: { limit: 200, ...page } })
  for await (const { entries } of pagesOf(read))
    for (const { id, action, createdAt, metadata } of entries)
      found.push({ id, action, createdAt, metadata: action === 'audit.archived' ? metadata : {} })
  return found
}

/** Yields exactly the leaves that the checkpoint covers, in order. */
async function* leavesOf(client: Client, orgId: string, size: number): AsyncGenerator<Leaf> {
  for (let from = 0; from < size; ) {
    const { leaves } = await client.auditProof.leaves({ params: { orgId }, query: { from } })
    if (leaves.length === 0 || leaves.some(({ index }, place) => index !== from + place))
      throw new SkerryError('malformed_answer', `the server left out entry number ${from} of the audit log`)
    for (const leaf of leaves.slice(0, size - from)) yield leaf
    from += leaves.length
  }
}

/**
 * Compares two checkpoints of one audit log: yours, and one that somebody else was shown. A server that shows two
 * histories cannot prove that one continues the other.
 *
 * @param publicKeys the keys with which the server signs now, and with which it signed earlier
 * @returns null if they agree.
 * @throws CryptoError if one is not signed with these keys or is about another audit log.
 */
export async function compareCheckpoints(
  client: Client,
  orgId: string,
  { publicKeys, notes }: { publicKeys: readonly string[]; notes: readonly [string, string] },
): Promise<Finding | null> {
  const opened = await Promise.all(notes.map((note) => openSigned(note, publicKeys, orgId)))
  const [older, newer] = opened.toSorted((one, other) => one.size - other.size) as [Checkpoint, Checkpoint]
  return (await isProvenBeginning(client, orgId, older, newer)) ? null : otherHistory(older.size)
}

async function isProvenBeginning(client: Client, orgId: string, older: Checkpoint, newer: Checkpoint) {
  if (older.size === 0) return true
  if (older.size === newer.size) return isSameHash(older.root, newer.root)
  const query = { from: older.size, to: newer.size }
  const { proof } = await client.auditProof.consistency({ params: { orgId }, query })
  return isBeginning(older, newer, proof.hashes.map(decodeBase64))
}

/** Whether a proof shows that the older tree is the beginning of the newer one. Sends no request. */
export async function isBeginning(older: Checkpoint, newer: Checkpoint, hashes: readonly Bytes[]): Promise<boolean> {
  const sizes = { from: older.size, to: newer.size, fromRoot: older.root, hashes }
  const roots = rootsOfConsistency(await openHasher(), sizes)
  return isSameHash(roots.from, older.root) && isSameHash(roots.to, newer.root)
}
