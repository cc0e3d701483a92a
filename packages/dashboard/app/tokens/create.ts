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
  /** It reads the first; the others are what its programs get as well. */
  environmentIds: string[]
  /** It resolves the first environment and no other. */
  bound: boolean
  expiresAt: string | null
}

/** A token that was just made. `problem`: not every key was granted to it. */
export interface Made {
  token: string
  tokenId: string
  problem: unknown
}

/**
 * Makes a token in the keyring's worker and registers it. Every key is wrapped to it before it exists: a token that can
 * read half of an environment can read none of it.
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
  // Whatever key the server shows for this token from now on is compared with this one.
  const [checked] = await keyring.callLocked('fingerprints', { publicKeyJwks: [publicKeyJwk] })
  if (checked) pin(tokenId, checked.fingerprint)
  return { token, tokenId, problem: await grantAll(orgId, tokenId, grants) }
}

/** Returns the error or null instead of throwing: the token exists by now and must be shown in any case. */
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
