import type { KmsSpec } from '@skerry/contract/kms/specs'
import { SkerryError } from '@skerry/sdk/errors'
import { api } from '../api.ts'
import type { Candidate } from '../envs/candidates.ts'
import { isPinned, remember } from '../envs/pins.ts'
import { keyring } from '../keyring.ts'
import { requireListed, requireManagedKey, requireManagedName } from '../trust/checks.ts'
import type { ManagedKey } from './queries.ts'

// The keyring's worker creates and wraps managed keys. This browser remembers the fingerprint of each version that it
// created or first saw. If a server later shows its own key instead, this is noticed before the key is wrapped to
// anybody.

const pinOf = (keyId: string, version: number) => `${keyId}/${version}`

interface Own {
  userId: string
}

const ownGrant = ({ userId }: Own, wrappedKey: string) => ({
  principalType: 'user' as const,
  principalId: userId,
  wrappedKey,
})

/** Creates a key that only its creator holds at first. */
export async function createKey(orgId: string, own: Own, { name, spec }: { name: string; spec: KmsSpec }) {
  const made = await keyring.call('newManagedKey', { spec, publicKeyJwks: [] })
  const body = {
    ...{ name, spec, purpose: made.publicKeyJwk === null ? ('encrypt' as const) : ('sign' as const) },
    ...(made.publicKeyJwk === null ? {} : { publicKeyJwk: made.publicKeyJwk }),
    grants: [ownGrant(own, made.wrappedKey)],
  }
  const { key } = await api.kms.create({ params: { orgId }, body })
  remember([{ principalId: pinOf(key.id, key.currentVersion), fingerprint: made.fingerprint }])
  return key
}

/** Adds a version to a key, for its creator and for `others`. */
export async function rotateKey(orgId: string, own: Own, key: ManagedKey, others: Candidate[]): Promise<number> {
  await requireManagedName(orgId, key)
  await requireListed(orgId, others)
  const publicKeyJwks = others.map(({ publicKeyJwk }) => publicKeyJwk)
  const made = await keyring.call('newManagedKey', { spec: key.spec, publicKeyJwks })
  const theirs = others.map(({ principalType, principalId }, i) => ({
    principalType,
    principalId,
    wrappedKey: made.wrappedKeys[i] as string,
  }))
  const body = {
    ...(made.publicKeyJwk === null ? {} : { publicKeyJwk: made.publicKeyJwk }),
    grants: [ownGrant(own, made.wrappedKey), ...theirs],
  }
  const typed = { managedKey: key.name }
  const { key: after } = await api.kms.rotate({ params: { orgId, kmsKeyId: key.id }, body }, { typed })
  remember([{ principalId: pinOf(key.id, after.currentVersion), fingerprint: made.fingerprint }])
  return after.currentVersion
}

/** Grants the current version to someone whose fingerprint was compared. */
export async function grantKey(orgId: string, { id, name, spec }: ManagedKey, to: Candidate): Promise<void> {
  await requireListed(orgId, [to])
  const params = { orgId, kmsKeyId: id }
  const { currentVersion, grants } = await api.kms.own({ params })
  const held = grants.find(({ version }) => version === currentVersion)
  if (!held) throw new SkerryError('forbidden', 'you do not hold the current version of this key')
  const { publicKeyJwk, principalType, principalId } = to
  await requireManagedKey(orgId, { id, name, version: currentVersion }, held.wrappedKey)
  const { fingerprint, wrappedKey } = await keyring.call('wrapManagedKey', {
    ...{ spec, publicKeyJwk },
    wrappedKey: held.wrappedKey,
  })
  const pin = { principalId: pinOf(id, currentVersion), fingerprint }
  if (!isPinned(pin)) throw new SkerryError('wrong_key', `version ${currentVersion} is another key than before`)
  remember([pin])
  await api.kms.grant({ params, body: { principalType, principalId, wrappedKey, version: currentVersion } })
}
