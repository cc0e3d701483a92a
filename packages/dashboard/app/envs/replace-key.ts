import type { readerWords } from '@skerry/contract/grants/readers'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { acceptedRecoveryKey } from '../recovery/covering.ts'
import { reloadSealed } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import type { Grantee } from './grantees.ts'
import { acceptReaders, environmentShared, noteReaders } from './known-readers.ts'
import { checkMeanings } from './meanings.ts'

/**
 * Seals all current values under a new key. If a value changes meanwhile, the server refuses the re-key. The person's
 * own public key comes from the keyring, not from the server.
 */
export async function replaceKey(
  orgId: string,
  environment: Pick<Environment, 'id' | 'name'>,
  ownId: string,
  others: (Grantee & { shownAs: string })[],
  dropped: (Grantee & { principalType: keyof typeof readerWords })[],
): Promise<void> {
  await checkMeanings([environment.id])
  const params = { orgId, envId: environment.id }
  const sealed = await reloadSealed(orgId, environment.id)
  if (!sealed) return
  const current = [...sealed.secrets.values()]
  const recoveryPublicKeyJwk = await acceptedRecoveryKey(orgId)
  const before = await environmentShared(environment.id, sealed.wrappedDek)
  await acceptReaders(before, `the new key of ${environment.name}`, others)
  const written = await allPages((query) => api.secretDetails.list({ params, query }))
  const { secrets, details, wrappedDek, wrappedDeks, ...covered } = await keyring.call('rekey', {
    recoveryPublicKeyJwk,
    details: written
      .flatMap((page) => page.details)
      .flatMap(({ name, sealed, revision }) => (sealed === null ? [] : [{ name, sealed, revision }])),
    layer: {
      wrappedDek: sealed.wrappedDek,
      environmentId: environment.id,
      secrets: current.map(({ name, ciphertext }) => ({ name, ciphertext })),
    },
    publicKeyJwks: others.map(({ publicKeyJwk }) => publicKeyJwk),
  })
  const grants = others.map(({ principalType, principalId }, i) => ({
    principalType,
    principalId,
    wrappedDek: wrappedDeks[i] as string,
  }))
  const own = { principalType: 'user' as const, principalId: ownId, wrappedDek }
  const expectedVersions = Object.fromEntries(current.map(({ name, version }) => [name, version]))
  const dropReaders = dropped.map(({ principalType, principalId }) => ({ principalType, principalId }))
  const body = {
    expectedVersions,
    grants: [own, ...grants],
    secrets,
    details,
    ...covered,
    ...(dropped.length > 0 ? { dropReaders } : {}),
  }
  await api.rekey.run({ params, body })
  await noteReaders(await environmentShared(environment.id, wrappedDek), others)
}
