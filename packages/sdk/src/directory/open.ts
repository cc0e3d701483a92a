import type { directory as endpoints } from '@skerry/contract/directory/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import { type DirectoryEntry, parseEntry } from '@skerry/crypto/directory/entries'
import { type HeadDocument, parseHead } from '@skerry/crypto/directory/head'
import type { RootPin } from '@skerry/crypto/directory/pin'
import { DirectoryError } from '@skerry/crypto/directory/refusal'
import { parseRoot, type RootDocument } from '@skerry/crypto/directory/root'
import { directoryTree } from '@skerry/crypto/directory/tree'
import { type DirectoryAnswer, type KnownDirectory, verifyDirectory } from '@skerry/crypto/directory/verify'
import { CryptoError } from '@skerry/crypto/errors'
import type { Client } from '../client.ts'
import { clientError } from '../errors.ts'
import { pagesOf } from '../pages.ts'

/** The whole signed directory of an organization, verified. */
export interface SignedDirectory {
  org: string
  root: RootDocument
  head: HeadDocument
  /** All entries, by key. */
  entries: ReadonlyMap<string, DirectoryEntry>
  /** The client stores it instead of what it knew before. */
  known: KnownDirectory
}

/** The trust that a client brings to a directory: pins, the directory that it saw before, or both. */
export interface DirectoryStart {
  pins: readonly RootPin[]
  known: KnownDirectory | null
  /**
   * Accepts a head that is older than 14 days, so that a client can show it, or a signer can sign a new one. Ask a person
   * before you sign, because the server may hide newer heads from a client.
   */
  acceptOld?: boolean
  /** Unix seconds. Default: now. */
  now?: number
}

/** A claim of the server about one entry. */
export type Claim = Answer<typeof endpoints.claims>['claims'][number]

/** The times that a client begins anew because the directory changed between two pages. */
const attempts = 5

const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/**
 * Fetches the whole directory of an organization and verifies it: the chain of roots and heads from the client's trust, and
 * that the tree over all entries is the signed one.
 *
 * @returns null if the organization has no directory.
 * @throws DirectoryError and CryptoError as `verifyDirectory` does, and `directory_unproven` if an entry is missing or
 *   changed; RefusedError, UnavailableError.
 * @example
 * const start = { pins: [parsePin(remembered)], known: null }
 * const signed = await openDirectory(client, orgId, start)
 * signed?.entries.get('environment/shop/production')
 */
export async function openDirectory(
  client: Client,
  orgId: string,
  start: DirectoryStart,
): Promise<SignedDirectory | null> {
  for (let left = attempts; ; left--) {
    const documents = await openDocuments(client, orgId, start)
    if (documents === null) return null
    const entries = await fetchEntries(client, orgId, documents.head.body.version)
    if (entries !== null) {
      await requireTree(entries, documents.head)
      return { ...documents, entries: new Map(entries.map((entry) => [entry.key, entry])) }
    }
    if (left <= 1) throw clientError('malformed_answer', 'the directory changed with every page of its entries')
  }
}

/**
 * Fetches and verifies the chain of roots and heads, without entries. Every member of an organization may.
 *
 * @returns null if the organization has no directory.
 * @throws the errors of `openDirectory`.
 * @example
 * const documents = await openDocuments(client, orgId, { pins: [parsePin(remembered)], known: null })
 * documents?.root.body.signers
 */
export async function openDocuments(
  client: Client,
  orgId: string,
  start: DirectoryStart,
): Promise<Omit<SignedDirectory, 'entries'> | null> {
  const answer = await fetchDocuments(client, orgId, start)
  if (answer === null) return null
  const { known } = await verifyWithAge(answer, orgId, start)
  const root = await parseRoot(answer.roots.at(-1) as string)
  const head = await parseHead(answer.heads.at(-1) as string)
  return { org: orgId, root, head, known }
}

/**
 * Whether the newest root that the server shows names this person or token as a signer. The root is not verified: use the
 * answer only to decide whether to ask for a pin.
 *
 * @throws RefusedError, UnavailableError; CryptoError for a malformed root.
 * @example const mustAskForPin = await isShownAsSigner(client, orgId, userId)
 */
export async function isShownAsSigner(client: Client, orgId: string, principalId: string): Promise<boolean> {
  const { directory } = await client.directory.get({ params: { orgId } })
  if (directory === null) return false
  const { body } = await parseRoot(directory.roots.at(-1) as string)
  return body.signers.some((one) => ('person' in one ? one.person : one.token) === principalId)
}

/** Fetches the roots and heads since those that the client trusts. */
async function fetchDocuments(
  client: Client,
  orgId: string,
  { pins, known }: DirectoryStart,
): Promise<DirectoryAnswer | null> {
  const hashes = [...pins.map(({ root }) => root), ...(known ? [known.root.hash] : [])]
  const root = [...new Set(hashes)].slice(-limits.directoryPinsMax)
  const query = { ...(root.length === 0 ? {} : { root }), ...(known ? { head: known.head.version } : {}) }
  const { directory } = await client.directory.get({ params: { orgId }, query })
  if (directory === null || directory.heads.length > 0) return directory
  // The client knows the newest head already, and needs its text.
  return (await client.directory.get({ params: { orgId }, query: root.length === 0 ? {} : { root } })).directory
}

async function verifyWithAge(answer: DirectoryAnswer, orgId: string, start: DirectoryStart) {
  const { pins, known, now = nowSeconds(), acceptOld = false } = start
  const trust = { pins, known, org: orgId, now, purpose: 'write' } as const
  try {
    return await verifyDirectory(answer, trust)
  } catch (error) {
    if (!acceptOld || !(error instanceof CryptoError) || error.code !== 'directory_stale') throw error
    const { issuedAt } = (await parseHead(answer.heads.at(-1) as string)).body
    return verifyDirectory(answer, { ...trust, now: issuedAt })
  }
}

/** @returns null if the directory got another head while its pages were read. */
async function fetchEntries(client: Client, orgId: string, version: number): Promise<DirectoryEntry[] | null> {
  const all: DirectoryEntry[] = []
  const limit = limits.directoryEntriesMax
  const read = (page: object) => client.directory.entries({ params: { orgId }, query: { limit, ...page } })
  for await (const { head, entries } of pagesOf(read)) {
    if (head !== version) return null
    all.push(...entries.map(parseEntry))
  }
  return all
}

async function requireTree(all: readonly DirectoryEntry[], head: HeadDocument): Promise<void> {
  const { count, entries } = await directoryTree(all)
  if (count === head.body.count && entries === head.body.entries) return
  throw new DirectoryError('directory_unproven', {
    expected: `${head.body.count} entries ${head.body.entries} of head ${head.body.version}`,
    came: `${count} entries ${entries}`,
  })
}

/**
 * Fetches what the server claims about entries: about these, or about all.
 *
 * @throws RefusedError, UnavailableError.
 * @example
 * const claims = await fetchClaims(client, orgId, ['environment/shop/production'])
 * claims.get('environment/shop/production')?.readers
 */
export async function fetchClaims(
  client: Client,
  orgId: string,
  keys?: readonly string[],
): Promise<ReadonlyMap<string, Claim>> {
  const found = new Map<string, Claim>()
  const parts = keys === undefined ? [undefined] : chunks([...new Set(keys)], limits.directoryProofsMax)
  for (const key of parts) {
    const query = { limit: limits.directoryEntriesMax, ...(key === undefined ? {} : { key }) }
    const read = (page: object) => client.directory.claims({ params: { orgId }, query: { ...query, ...page } })
    for await (const { claims } of pagesOf(read)) for (const claim of claims) found.set(claim.key, claim)
  }
  return found
}

/** Cuts a list into parts of a size. */
export const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size))
