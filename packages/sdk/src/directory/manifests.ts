import { limits } from '@skerry/contract/limits'
import type { Bytes } from '@skerry/crypto/base64url'
import { makeBranchManifest, openBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { CryptoError } from '@skerry/crypto/errors'
import { newId } from '@skerry/crypto/random'
import type { Client } from '../client.ts'
import { type EnvironmentPlace, environmentKey, type RememberingHolder } from '../environment-key.ts'
import { pagesOf } from '../pages.ts'
import { asParent } from './writer.ts'

/** The server computes the expiry by its own clock, which may be later than the client's. */
const slackSeconds = 600

/** Makes the id and the manifest of a new branch. */
export async function manifestOfNew(
  parent: { envId: string; key: Bytes },
  { slug, ttlSeconds }: { slug: string; ttlSeconds?: number | null | undefined },
  key: Bytes,
): Promise<{ id: string; manifest: string }> {
  const id = newId('environment')
  const ttl = ttlSeconds === undefined ? limits.branchTtlDefaultSeconds : ttlSeconds
  const expiresAt = ttl === null ? null : Math.ceil(Date.now() / 1000) + ttl + slackSeconds
  const facts = { id, parent: parent.envId, name: slug, key: await environmentKeyCommitment(id, key), expiresAt }
  return { id, manifest: await makeBranchManifest(parent.key, facts) }
}

/** A re-keyed environment, the branch or the parent of branches. */
export interface Rekeyed {
  envId: string
  /** The environment that it is a branch of; null if it is none. */
  parent: string | null
  /** The keys of the environment before and after, and the key of its parent. */
  keys: { old: Bytes; next: Bytes; above?: Bytes | undefined }
}

/** A branch as the server lists it. */
export interface ListedBranch {
  id: string
  slug: string
  manifest: string | null
}

/** A manifest as a re-key carries it. */
export interface RenewedManifest {
  environmentId: string
  manifest: string
}

/**
 * Makes the manifests anew that a re-key would drop: those of the branches of an environment, or of the branch itself. A
 * manifest that the old key cannot verify is dropped. Sends nothing.
 *
 * @param branches the branches of the environment, or of the parent of a branch.
 */
export async function renewedManifests(
  branches: readonly ListedBranch[],
  { envId, parent, keys: { old, next, above } }: Rekeyed,
): Promise<RenewedManifest[]> {
  const renewed: RenewedManifest[] = []
  for (const { id, slug, manifest } of branches) {
    if (manifest === null || (parent !== null && id !== envId)) continue
    const facts = await open(above ?? old, manifest, { parent: parent ?? envId, name: slug })
    if (facts?.id !== id) continue
    const key = above ? await environmentKeyCommitment(id, next) : facts.key
    renewed.push({ environmentId: id, manifest: await makeBranchManifest(above ?? next, { ...facts, key }) })
  }
  return renewed
}

/** Reads the branches that a re-key is about, and makes their manifests anew. */
export async function renewManifests(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  { old, next, holder }: { old: Bytes; next: Bytes; holder: RememberingHolder },
): Promise<RenewedManifest[]> {
  const { environment } = await client.envs.get({ params: { orgId, envId } })
  const { parentEnvironmentId: parent } = environment
  const above =
    parent === null ? undefined : (await environmentKey(client, { orgId, envId: parent }, asParent(holder))).bytes
  const params = { orgId, envId: parent ?? envId }
  const branches: ListedBranch[] = []
  for await (const page of pagesOf((page) => client.branches.list({ params, query: page })))
    branches.push(...page.branches)
  return renewedManifests(branches, { envId, parent, keys: { old, next, above } })
}

const open = (key: Bytes, manifest: string, asked: { parent: string; name: string }) =>
  openBranchManifest(key, manifest, asked, Date.now() / 1000).catch((error) => {
    if (error instanceof CryptoError) return undefined
    throw error
  })
