import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { pin } from '../envs/pins.ts'
import { wrapEnvironmentKey } from '../envs/wrap-key.ts'
import { keyring } from '../keyring.ts'
import type { Format } from './format-field.tsx'

export interface NewServiceToken {
  name: string
  role: 'member' | 'admin'
  format: Format
  /** The environment to read, followed by the group environments that are composed into it. */
  environmentIds: string[]
  /** Whether the token may resolve the first environment only. */
  bound: boolean
  expiresAt: string | null
}

/** A new token. `problem` is set if not every key was granted to it. */
export interface Made {
  token: string
  tokenId: string
  problem: unknown
}

/**
 * Creates a token in the keyring's worker and registers it. All keys are wrapped before the token is registered,
 * because a token that lacks one key of an environment can read nothing of it.
 */
export async function createServiceToken(orgId: string, wanted: NewServiceToken): Promise<Made> {
  await checkMeanings(wanted.environmentIds)
  const { token, tokenId, tokenHash, publicKeyJwk } = await keyring.callLocked('newToken', { format: wanted.format })
  const reader = { principalId: tokenId, publicKeyJwk }
  const grants = []
  for (const envId of wanted.environmentIds)
    grants.push({ envId, wrappedDek: await wrapEnvironmentKey(orgId, envId, reader) })
  const { name, role, bound, expiresAt } = wanted
  const environmentId = bound ? (wanted.environmentIds[0] ?? null) : null
  const body = { name, tokenId, tokenHash, publicKeyJwk, role, environmentId, expiresAt }
  await api.tokens.create({ params: { orgId }, body })
  // The public key is pinned, so that a different key from the server is noticed later.
  const [checked] = await keyring.callLocked('fingerprints', { publicKeyJwks: [publicKeyJwk] })
  if (checked) pin(tokenId, checked.fingerprint, { name })
  return { token, tokenId, problem: await grantAll(orgId, tokenId, grants) }
}

/** Returns the error or null instead of throwing. The token already exists and must be shown in any case. */
async function grantAll(orgId: string, principalId: string, grants: { envId: string; wrappedDek: string }[]) {
  try {
    for (const { envId, wrappedDek } of grants) {
      const body = { principalType: 'service_token' as const, principalId, wrappedDek }
      await api.grants.create({ params: { orgId, envId }, body })
    }
    return null
  } catch (error) {
    return error
  }
}
