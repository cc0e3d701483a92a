import type { readerWords } from '@skerry/contract/grants/readers'
import { RefusedError } from '@skerry/sdk/errors'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { acceptedRecoveryKey } from '../recovery/covering.ts'
import { noteHeader } from '../secrets/protected.ts'
import { reloadSealed } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { requireReaders } from '../trust/checks.ts'
import type { Grantee } from './grantees.ts'
import { acceptReaders, environmentShared, noteReaders } from './known-readers.ts'
import { checkMeanings } from './meanings.ts'

/** The holders who get the new key of an environment, besides this person, and the readers of the server that lose it. */
export interface NewKey {
  orgId: string
  environment: Pick<Environment, 'id' | 'name'>
  ownId: string
  others: (Grantee & { shownAs: string })[]
  dropped: (Grantee & { principalType: keyof typeof readerWords })[]
}

/** Seals all current values under a new key. If a value changes meanwhile, the server refuses the re-key. */
export async function replaceKey(newKey: NewKey): Promise<void> {
  const { orgId, environment, others } = newKey
  const prepared = await prepare(newKey)
  if (!prepared) return
  await api.rekey.run({ params: { orgId, envId: environment.id }, body: prepared.body })
  await noteReaders(await environmentShared(environment.id, prepared.wrappedDek), others)
}

/** The same in a protected environment, which keeps its key until the change is approved. */
export async function proposeKey(newKey: NewKey, note = ''): Promise<void> {
  const prepared = await prepare(newKey)
  if (!prepared) return
  const params = { orgId: newKey.orgId, envId: newKey.environment.id }
  await api.changes.proposeRekey({ params, body: prepared.body }, noteHeader(note))
}

/**
 * Makes the key and seals everything under it. The person's own public key comes from the keyring, not from the server.
 * Returns undefined if the person does not hold the present key.
 */
async function prepare({ orgId, environment, ownId, others, dropped }: NewKey) {
  await checkMeanings([environment.id])
  const params = { orgId, envId: environment.id }
  const sealed = await reloadSealed(orgId, environment.id)
  if (!sealed) return undefined
  const current = [...sealed.secrets.values()]
  const recoveryPublicKeyJwk = await acceptedRecoveryKey(orgId)
  const before = await environmentShared(environment.id, sealed.wrappedDek)
  await requireReaders(orgId, environment.id, ownId, others)
  await acceptReaders(before, `the new key of ${environment.name}`, others)
  const written = await allPages((query) => api.secretDetails.list({ params, query }))
  const { secrets, details, manifests, wrappedDek, wrappedDeks, ...covered } = await keyring.call('rekey', {
    recoveryPublicKeyJwk,
    details: written
      .flatMap((page) => page.details)
      .flatMap(({ name, sealed, revision }) => (sealed === null ? [] : [{ name, sealed, revision }])),
    layer: {
      wrappedDek: sealed.wrappedDek,
      environmentId: environment.id,
      secrets: current.map(({ name, ciphertext }) => ({ name, ciphertext })),
    },
    family: await familyOf(orgId, environment.id),
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
    ...(manifests.length > 0 ? { manifests } : {}),
    ...(dropped.length > 0 ? { dropReaders } : {}),
  }
  return { body, wrappedDek }
}

/** The branches whose manifests the new key makes anew: those of the environment, or of the parent of a branch. */
async function familyOf(orgId: string, envId: string) {
  const { environment } = await api.envs.get({ params: { orgId, envId } })
  const { parentEnvironmentId: parentId } = environment
  const params = { orgId, envId: parentId ?? envId }
  const pages = await allPages((query) => api.branches.list({ params, query }))
  const branches = pages.flatMap((page) => page.branches).map(({ id, slug, manifest }) => ({ id, slug, manifest }))
  const isSigned = branches.some(({ manifest }) => manifest !== null)
  if (parentId === null || !isSigned) return { parent: null, branches: isSigned ? branches : [] }
  const wrappedDek = await api.grants.own({ params }).then((own) => own.wrappedDek, nullIfRefused)
  // A person who cannot read the parent cannot make the manifest. Somebody who can does so with the next re-key.
  return wrappedDek === null ? { parent: null, branches: [] } : { parent: { id: parentId, wrappedDek }, branches }
}

const nullIfRefused = (error: unknown): null => {
  if (error instanceof RefusedError) return null
  throw error
}
