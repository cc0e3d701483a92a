import { limits } from '@skerry/contract/limits'
import type { Bytes } from '@skerry/crypto/base64url'
import { makeBranchManifest, openBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { CryptoError } from '@skerry/crypto/errors'
import { newId } from '@skerry/crypto/random'
import type { KeyHolder } from '@skerry/crypto/wrap'
import type { Client } from '../client.ts'
import { pagesOf } from '../pages.ts'
import { type EnvironmentPlace, environmentKey } from '../secrets.ts'

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

/**
 * Makes the manifests anew that a re-key would drop: those of the branches of an environment, or of the branch itself. A
 * manifest that the old key cannot verify is dropped.
 */
export async function renewManifests(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  { old, next, holder }: { old: Bytes; next: Bytes; holder: KeyHolder },
): Promise<{ environmentId: string; manifest: string }[]> {
  const { environment } = await client.envs.get({ params: { orgId, envId } })
  const { parentEnvironmentId: parent } = environment
  const above = parent === null ? undefined : (await environmentKey(client, { orgId, envId: parent }, holder)).bytes
  const params = { orgId, envId: parent ?? envId }
  const renewed: { environmentId: string; manifest: string }[] = []
  for await (const { branches } of pagesOf((page) => client.branches.list({ params, query: page })))
    for (const { id, slug, manifest } of branches) {
      if (manifest === null || (parent !== null && id !== envId)) continue
      const facts = await open(above ?? old, manifest, { parent: params.envId, name: slug })
      if (facts?.id !== id) continue
      const key = above ? await environmentKeyCommitment(id, next) : facts.key
      renewed.push({ environmentId: id, manifest: await makeBranchManifest(above ?? next, { ...facts, key }) })
    }
  return renewed
}

const open = (key: Bytes, manifest: string, asked: { parent: string; name: string }) =>
  openBranchManifest(key, manifest, asked, Date.now() / 1000).catch((error) => {
    if (error instanceof CryptoError) return undefined
    throw error
  })
