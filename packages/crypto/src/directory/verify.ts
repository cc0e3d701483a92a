import type { TokenFormat } from '../token.ts'
import type { DirectoryEntry } from './entries.ts'
import { type HeadBody, type HeadDocument, parseHead, requireNextHead, requireSignedHead } from './head.ts'
import type { RootPin } from './pin.ts'
import { type EntryOf, verifyEntry } from './proof.ts'
import { DirectoryError, malformed, timeText } from './refusal.ts'
import { namesOf, openRoot, type RootBody, type RootDocument, requireNextRoot } from './root.ts'
import type { EntryProof } from './tree.ts'

/** The part of an answer that shows that the directory is the one that the client trusts. */
export interface DirectoryAnswer {
  /** A chain of roots, oldest first. It begins with a root that the client trusts, and ends with the newest. */
  roots: readonly string[]
  /** A chain of heads that ends with the newest. It begins with the head that the client knows, or the one after it. */
  heads: readonly string[]
}

/**
 * The newest root and head that a client has verified. The client compares the next directory with this root and head.
 */
export interface KnownDirectory {
  org: string
  root: { version: number; hash: string }
  head: { version: number; hash: string }
  /** The latest time at which a verified head was signed, in Unix seconds. */
  time: number
  /** The pins with which the client has verified this directory or an earlier one. */
  pins: readonly string[]
}

/** The facts that a client trusts before it verifies a directory. The client needs a pin or a known directory. */
export interface DirectoryTrust {
  /** The roots that the client trusts. */
  pins: readonly RootPin[]
  /** The newest directory that the client has verified, or null if it has verified no directory. */
  known: KnownDirectory | null
  /** The id of the organization that the client expects. Without it, a pin determines the organization. */
  org?: string | undefined
  /** The format of the caller's service token, if the caller has one. A root can forbid the format `classic`. */
  token?: TokenFormat | undefined
  /** The present time, in seconds since 1970. */
  now: number
  /**
   * `write` before writing, wrapping a key or approving, because other people rely on the result. The newest head may
   * then be at most 14 days old. `read` in all other cases. The newest head may then be at most 30 days old.
   */
  purpose: 'read' | 'write'
}

export interface VerifiedDirectory {
  root: RootBody
  head: HeadBody
  /** The client stores it instead of what it knew before. */
  known: KnownDirectory
}

const stepsMax = 1000
const headsMax = 10_000
const futureSeconds = 600
const ageMaxDays = { read: 30, write: 14 } as const
const daySeconds = 86_400

/**
 * Verifies that an answer shows the directory that a client trusts, and that its head is the newest one that the client
 * can know of. Nothing in an answer is used before.
 *
 * @throws DirectoryError with what was expected, what came, and who could have signed it: `directory_unpinned`,
 *   `directory_other_org`, `directory_broken_chain`, `directory_unsigned`, `directory_rolled_back`, `directory_stale`,
 *   `directory_from_future`, `directory_too_weak`. CryptoError `directory_malformed`, `directory_unsupported`.
 * @example
 * const pins = [parsePin(remembered)]
 * const trust = { pins, known: null, now: Date.now() / 1000, purpose: 'read' } as const
 * const { head } = await verifyDirectory({ roots: [rootText], heads: [headText] }, trust)
 */
export async function verifyDirectory(answer: DirectoryAnswer, trust: DirectoryTrust): Promise<VerifiedDirectory> {
  const root = await verifyRoots(answer.roots, trust)
  const head = await verifyHeads(answer.heads, root, trust)
  requireCurrent(head.body, root.newest, trust)
  return {
    root: root.newest.body,
    head: head.body,
    known: {
      org: root.newest.body.org,
      root: { version: root.newest.body.version, hash: root.newest.hash },
      head: { version: head.body.version, hash: head.hash },
      time: Math.max(trust.known?.time ?? 0, head.body.issuedAt),
      pins: [...new Set([...(trust.known?.pins ?? []), ...trust.pins.map((pin) => pin.root)])],
    },
  }
}

/**
 * Verifies an answer and one entry in it: all that a first resolve needs.
 *
 * @throws CryptoError as `verifyDirectory` and `verifyEntry` do.
 * @example
 * const trust = { pins: [parsePin(remembered)], known: null, now: Date.now() / 1000, purpose: 'read' } as const
 * const answer = { roots: [rootText], heads: [headText], proof: entryProof }
 * const { entry, known } = await verifyDirectoryEntry(answer, 'environment/shop/production', trust)
 */
export async function verifyDirectoryEntry<Key extends DirectoryEntry['key']>(
  answer: DirectoryAnswer & { proof: EntryProof },
  key: Key,
  trust: DirectoryTrust,
): Promise<VerifiedDirectory & { entry: EntryOf<Key> }> {
  const verified = await verifyDirectory(answer, trust)
  return { ...verified, entry: await verifyEntry(verified.head, key, answer.proof) }
}

/** Verifies the chain of roots -> the newest one, and the hashes of all in the chain. */
async function verifyRoots(
  texts: readonly string[],
  { pins, known, org, token }: DirectoryTrust,
): Promise<{ newest: RootDocument; hashes: readonly string[] }> {
  if (texts.length === 0 || texts.length > stepsMax + 1) throw malformed('it must have 1 to 1,001 roots')
  const roots: RootDocument[] = []
  for (const text of texts) {
    const root = await openRoot(text)
    const before = roots.at(-1)
    if (before) await requireNextRoot(before, root)
    else requireTrusted(root, pins, known)
    roots.push(root)
  }
  const hashes = roots.map(({ hash }) => hash)
  requireContained(hashes, pins, known)
  const newest = roots.at(-1) as RootDocument
  const other = [org, known?.org].find((wanted) => wanted !== undefined && wanted !== newest.body.org)
  if (other !== undefined) throw new DirectoryError('directory_other_org', { expected: other, came: newest.body.org })
  if (token === 'classic' && newest.body.minimum.token !== 'classic')
    throw new DirectoryError('directory_too_weak', {
      expected: 'a token that keeps its key from the server',
      came: 'a classic token',
    })
  return { newest, hashes }
}

function requireTrusted(first: RootDocument, pins: readonly RootPin[], known: KnownDirectory | null): void {
  const trusted = [...pins.map(({ root }) => root), ...(known ? [known.root.hash, ...known.pins] : [])]
  if (trusted.includes(first.hash)) return
  throw new DirectoryError('directory_unpinned', {
    expected: trusted.length === 0 ? 'a pin' : `a chain from ${[...new Set(trusted)].join(' or ')}`,
    came: trusted.length === 0 ? 'none' : `one from ${first.hash}`,
  })
}

/** The chain must lead through every pin and through the newest root that the client knows. Both exclude a fork. */
function requireContained(hashes: readonly string[], pins: readonly RootPin[], known: KnownDirectory | null): void {
  if (known && !hashes.includes(known.root.hash))
    throw new DirectoryError('directory_rolled_back', {
      expected: `a chain with root ${known.root.version}, ${known.root.hash}`,
      came: `one that ends with ${hashes.at(-1)}`,
    })
  const missing = pins.find(({ root }) => !hashes.includes(root) && !known?.pins.includes(root))
  if (missing)
    throw new DirectoryError('directory_unpinned', {
      expected: `a chain with the pinned root ${missing.root}`,
      came: `one that ends with ${hashes.at(-1)}`,
    })
}

/** Verifies the chain of heads -> the newest one. */
async function verifyHeads(
  texts: readonly string[],
  { newest, hashes }: { newest: RootDocument; hashes: readonly string[] },
  { known, pins }: DirectoryTrust,
): Promise<HeadDocument> {
  if (texts.length === 0 || texts.length > headsMax) throw malformed('it must have 1 to 10,000 heads')
  const heads = await Promise.all(texts.map(parseHead))
  const head = heads.at(-1) as HeadDocument
  if (known) requireNotOlder(head, known)
  for (const [index, one] of heads.entries()) {
    const before = heads[index - 1]
    if (before) requireNextHead({ ...before.body, hash: before.hash, time: before.body.issuedAt }, one)
    else if (known && one.hash !== known.head.hash) requireNextHead({ ...known.head, time: known.time }, one)
  }
  requireRootsInOrder(heads, hashes, known ? hashes.indexOf(known.root.hash) : -1)
  const least = Math.max(...pins.map(({ leastHead }) => leastHead), 1)
  if (head.body.version < least)
    throw new DirectoryError('directory_rolled_back', {
      expected: `head ${least} or later, as pinned`,
      came: `head ${head.body.version}`,
    })
  await requireSignedHead(head, newest)
  return head
}

function requireNotOlder(head: HeadDocument, { head: { version, hash } }: KnownDirectory): void {
  const isSame = head.body.version === version && head.hash === hash
  if (head.body.version > version || isSame) return
  throw new DirectoryError('directory_rolled_back', {
    expected: `head ${version} (${hash}) or later`,
    came: `head ${head.body.version} (${head.hash})`,
  })
}

/**
 * A head never names an older root than the head before it. A client without memory does not know the oldest roots: -1.
 */
function requireRootsInOrder(heads: readonly HeadDocument[], hashes: readonly string[], known: number): void {
  let newest = known
  for (const { body } of heads) {
    const position = hashes.indexOf(body.root)
    if (position < newest)
      throw new DirectoryError('directory_broken_chain', {
        expected: `head ${body.version} of root ${hashes[newest]} or later`,
        came: `one of root ${body.root}`,
      })
    newest = position
  }
}

/** Applies the rules of time. The clock is the later of the client's own and the newest time that it has verified. */
function requireCurrent({ issuedAt, version }: HeadBody, { body }: RootDocument, trust: DirectoryTrust): void {
  const clock = Math.max(trust.now, trust.known?.time ?? 0)
  const signers = namesOf(body.signers, 1)
  // Both comparisons are negated, so that a clock that is not a number refuses.
  if (!(issuedAt <= clock + futureSeconds))
    throw new DirectoryError('directory_from_future', {
      expected: `head ${version} dated ${timeText(Math.floor(clock) + futureSeconds)} or earlier`,
      came: timeText(issuedAt),
      signers,
    })
  const oldest = clock - ageMaxDays[trust.purpose] * daySeconds
  if (!(issuedAt >= oldest))
    throw new DirectoryError('directory_stale', {
      expected: `a head dated ${timeText(Math.ceil(oldest))} or later, to ${trust.purpose}`,
      came: `head ${version} dated ${timeText(issuedAt)}`,
      signers,
    })
}
