import { limits } from '@skerry/contract/limits'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { RootPin } from '@skerry/crypto/directory/pin'
import { type EntryOf, verifyEntry } from '@skerry/crypto/directory/proof'
import { type DirectoryTrust, type VerifiedDirectory, verifyDirectory } from '@skerry/crypto/directory/verify'
import type { TokenFormat } from '@skerry/crypto/token'
import type { Client } from '../client.ts'
import { explainOlder, parseShown, proofOf, trustedQuery } from './answer.ts'
import type { DirectoryMemory } from './memory.ts'

/** The settings with which a client verifies the signed directory of one organization. */
export interface OrgTrust {
  /** The roots that the client trusts. */
  pins: readonly RootPin[]
  /** Stores the newest directory that the client has verified. */
  memory: DirectoryMemory
  /** The format of the caller's service token, if the caller has one. */
  token?: TokenFormat | undefined
  /**
   * `write` if other people will rely on the result, for example when the client grants a key. The newest head of the
   * directory may then be at most 14 days old. `read` in all other cases. The newest head may then be at most 30 days
   * old.
   */
  purpose: DirectoryTrust['purpose']
  /** A function that returns the present time, in milliseconds since 1970. Default: the clock of this machine. */
  now?: (() => number) | undefined
}

/** Entries under one verified head. A key without an entry is not in the map: its object does not exist. */
export interface VerifiedEntries {
  verified: VerifiedDirectory
  get<Key extends DirectoryEntry['key']>(key: Key): EntryOf<Key> | undefined
}

/**
 * Fetches entries by their keys and verifies them. The head is remembered.
 *
 * @throws DirectoryError, CryptoError as `verifyDirectory` does; DirectoryError `directory_missing` if the server shows
 *   no directory; the errors of `client`.
 */
export async function fetchEntries(
  client: Client,
  orgId: string,
  keys: readonly DirectoryEntry['key'][],
  trust: OrgTrust,
): Promise<VerifiedEntries> {
  const asked = [...new Set(keys)]
  const first = await fetchProofs(client, orgId, asked.slice(0, limits.directoryProofsMax), trust)
  const found = new Map<string, DirectoryEntry>(first.entries)
  let { verified } = first
  for (let at = limits.directoryProofsMax; at < asked.length; at += limits.directoryProofsMax) {
    const next = await fetchProofs(client, orgId, asked.slice(at, at + limits.directoryProofsMax), trust)
    for (const [key, entry] of next.entries) found.set(key, entry)
    verified = next.verified
  }
  return { verified, get: <Key extends DirectoryEntry['key']>(key: Key) => found.get(key) as EntryOf<Key> | undefined }
}

async function fetchProofs(
  client: Client,
  orgId: string,
  keys: readonly DirectoryEntry['key'][],
  { pins, memory, token, purpose, now = Date.now }: OrgTrust,
) {
  const known = await memory.read(orgId)
  const query = { ...trustedQuery(pins, known), ...(keys.length > 0 ? { key: [...keys] } : {}) }
  const expected = known ? `head ${known.head.version} or later` : 'a directory from a pinned root'
  const { directory: shown } = await client.directory.get({ params: { orgId }, query }).catch((error) => {
    throw pins.length > 0 || known ? explainOlder(error, expected) : error
  })
  const trust = { pins, known, org: orgId, token, now: now() / 1000, purpose }
  const answer = parseShown(shown, expected)
  const verified = await verifyDirectory(answer, trust)
  await memory.write(orgId, verified.known)
  const entries: [string, DirectoryEntry][] = []
  for (const key of keys) {
    const proof = proofOf(answer.proofs, key)
    if (proof) entries.push([key, await verifyEntry(verified.head, key, proof)])
  }
  return { verified, entries }
}
