import { CryptoError } from '../errors.ts'
import { type ParsedDocument, parseDocument } from './document.ts'
import { DirectoryError, malformed, timeText } from './refusal.ts'
import { namesOf, type RootDocument } from './root.ts'
import { anything, hash, id, nullable, object, requireShape, time, whole } from './shape.ts'
import { validKids } from './signing.ts'

/** Says which entries the directory has, and since when. Times are Unix seconds. */
export interface HeadBody {
  v: 1
  org: string
  /** The hash of the newest root. */
  root: string
  /** From 1. It goes on when the root changes. */
  version: number
  /** The hash of the head before; null for the first one. */
  prev: string | null
  issuedAt: number
  /** The number of entries. */
  count: number
  /** The root of the Merkle tree over the entries, base64url. */
  entries: string
}

export type HeadDocument = ParsedDocument<HeadBody>

const headShape = object({
  v: anything,
  org: id('organization'),
  root: hash,
  version: whole(1),
  prev: nullable(hash),
  issuedAt: time,
  count: whole(0),
  entries: hash,
})

/**
 * Makes the body of the head that follows `before`, or of the first one. It is never dated before its root or the head
 * before it.
 *
 * @param tree the number of entries and the root of their Merkle tree; `directoryTree` computes both.
 * @example const headBody = nextHead(null, rootDocument, { count: 1, entries: verified.head.entries }, 1_767_225_600)
 */
export function nextHead(
  before: HeadDocument | null,
  root: RootDocument,
  { count, entries }: Pick<HeadBody, 'count' | 'entries'>,
  now: number,
): HeadBody {
  return {
    v: 1,
    org: root.body.org,
    root: root.hash,
    version: (before?.body.version ?? 0) + 1,
    prev: before?.hash ?? null,
    issuedAt: Math.max(now, root.body.issuedAt, before?.body.issuedAt ?? 0),
    count,
    entries,
  }
}

/**
 * Parses a head. It checks no signature.
 *
 * @throws CryptoError `directory_malformed`, `directory_unsupported`.
 */
export async function parseHead(text: string): Promise<HeadDocument> {
  const document = await parseDocument('od1', text)
  if ((document.body as { v?: unknown } | null)?.v !== 1)
    throw new CryptoError('directory_unsupported', 'the head has another version')
  requireShape('head', headShape, document.body)
  const { version, prev } = document.body as HeadBody
  if ((version === 1) !== (prev === null)) throw malformed('only the first head has no head before it')
  return document as HeadDocument
}

/**
 * Checks that a head belongs to a root, and that one of the signers of that root signed it. A token may.
 *
 * @throws DirectoryError `directory_other_org`, `directory_broken_chain`, `directory_unsigned`.
 */
export async function requireSignedHead(head: HeadDocument, root: RootDocument): Promise<void> {
  const { org, root: named, version, issuedAt } = head.body
  if (org !== root.body.org) throw new DirectoryError('directory_other_org', { expected: root.body.org, came: org })
  const broken = (expected: string, came: string) => new DirectoryError('directory_broken_chain', { expected, came })
  if (named !== root.hash) throw broken(`a head of root ${root.hash}`, `one of root ${named}`)
  if (issuedAt < root.body.issuedAt)
    throw broken(`a head dated ${timeText(root.body.issuedAt)} or later`, timeText(issuedAt))
  if ((await validKids(head, root.body.signers)).size > 0) return
  throw new DirectoryError('directory_unsigned', {
    expected: `head ${version} with a signature of root ${root.body.version}`,
    came: 'none',
    signers: namesOf(root.body.signers, 1),
  })
}

/**
 * Checks that a head follows the one with this version and hash. Its signature is not checked here: the newest head
 * vouches for all before it, because it contains their hashes.
 *
 * @throws DirectoryError `directory_broken_chain`.
 */
export function requireNextHead(before: { version: number; hash: string; time: number }, next: HeadDocument): void {
  const { version, prev, issuedAt } = next.body
  const broken = (expected: string, came: string) => new DirectoryError('directory_broken_chain', { expected, came })
  if (version !== before.version + 1) throw broken(`head ${before.version + 1}`, `head ${version}`)
  if (prev !== before.hash) throw broken(`a head after ${before.hash}`, `one after ${prev}`)
  if (issuedAt < before.time) throw broken(`a head dated ${timeText(before.time)} or later`, timeText(issuedAt))
}
