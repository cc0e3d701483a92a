import { limits } from '@skerry/contract/limits'
import type { Bytes } from '@skerry/crypto/base64url'
import { openBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import type { VerifiedDirectory } from '@skerry/crypto/directory/verify'
import { CryptoError } from '@skerry/crypto/errors'
import { type KeyHolder, unwrapKey } from '@skerry/crypto/wrap'
import type { Client } from '../client.ts'
import { pagesOf } from '../pages.ts'
import { mismatch } from './answer.ts'
import { fetchEntries, type OrgTrust } from './entries.ts'
import { type WriterDirectory, writingTrust } from './writer.ts'
import { writtenName } from './written-name.ts'

interface EnvironmentPlace {
  orgId: string
  envId: string
}

type Writer = KeyHolder & { directory: WriterDirectory }

/**
 * Refuses a key of an environment, unless it is the one in the signed directory. Call it before anything is sealed under the
 * key or the key is wrapped to anybody. A client without pins and memory believes the server.
 *
 * @throws DirectoryError `directory_mismatch` for another environment or another key, `directory_unproven` for a name that
 *   nobody signed; CryptoError as `verifyDirectory` does, and `not_authentic` or `authentic_expired` for a branch;
 *   SkerryError `invalid_request` without a name.
 */
export async function requireSignedKey(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  key: Bytes,
  writer: Writer,
): Promise<void> {
  const trust = await writingTrust(writer.directory, orgId)
  if (!trust) return
  const [name = '', branch] = (await writtenName(client, orgId, writer.directory, trust)).split('@')
  const { verified, entry } = await signedEnvironment(client, orgId, name, trust)
  if (branch !== undefined)
    return requireBranchKey(client, { orgId, envId }, key, { writer, name, branch, verified, entry })
  if (entry.id !== envId) throw mismatch(verified, `${name} with the id ${entry.id}`, envId)
  await requireCommitment(verified, { name, envId, key, commitment: entry.key })
}

async function signedEnvironment(client: Client, orgId: string, name: string, trust: OrgTrust) {
  const key = `environment/${name}` as const
  const { verified, get } = await fetchEntries(client, orgId, [key], trust)
  const entry = get(key)?.value
  if (entry) return { verified, entry }
  throw mismatch(verified, `${key} in head ${verified.head.version}`, 'no entry')
}

interface OfBranch {
  writer: Writer
  name: string
  branch: string
  verified: VerifiedDirectory
  entry: { id: string; key: string }
}

/** A branch has no entry. Its manifest ties its name, its id and its key to the key of its parent, which has one. */
async function requireBranchKey(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  key: Bytes,
  { writer, name, branch, verified, entry: { id: parent, key: commitment } }: OfBranch,
): Promise<void> {
  const params = { orgId, envId: parent }
  const parentKey = await unwrapKey((await client.grants.own({ params })).wrappedDek, writer)
  await requireCommitment(verified, { name, envId: parent, key: parentKey, commitment })
  const manifest = await findManifest(client, params, branch)
  if (!manifest) throw mismatch(verified, `the branch ${branch} with a manifest`, 'none')
  const nowMs = (writer.directory.now ?? Date.now)()
  const opened = await openBranchManifest(parentKey, manifest, { parent, name: branch }, nowMs / 1000)
  if (opened.id !== envId) throw new CryptoError('not_authentic')
  await requireCommitment(verified, { name: `${name}@${branch}`, envId, key, commitment: opened.key })
}

/** Finds the manifest of a branch; null if the server shows none. `params` names the branch's parent. */
export async function findManifest(client: Client, params: EnvironmentPlace, slug: string): Promise<string | null> {
  const read = (page: object) => client.branches.list({ params, query: { limit: limits.listMax, ...page } })
  for await (const { branches } of pagesOf(read)) {
    const found = branches.find((one) => one.slug === slug)
    if (found) return found.manifest
  }
  return null
}

interface Committed {
  name: string
  envId: string
  key: Bytes
  commitment: string
}

async function requireCommitment(verified: VerifiedDirectory, { name, envId, key, commitment }: Committed) {
  const came = await environmentKeyCommitment(envId, key)
  if (came !== commitment) throw mismatch(verified, `${name} with the key ${commitment}`, came)
}
