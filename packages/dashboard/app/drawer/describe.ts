import type { Body } from '@skerry/contract/endpoint'
import type { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import type { Layer } from '../secrets/columns.ts'
import type { Description } from './use-described.ts'

/** A change of details. The keyring's worker encrypts `text`; the server reads the rest. */
export interface DetailsChange extends Pick<Body<typeof secretDetails.update>, 'ownerId' | 'expiresAt' | 'notNeeded'> {
  text?: Description
}

/**
 * Describes a secret. `revision` is that of the text that this person saw, or 0 if there was none: the server refuses to
 * replace another one.
 */
export async function describe(
  { orgId, name, layer }: { orgId: string; name: string; layer: Layer },
  { text, ...plain }: DetailsChange,
  revision: number,
): Promise<void> {
  const { wrappedDek, environmentId } = layer
  const params = { orgId, envId: environmentId, name }
  if (!text) return void (await api.secretDetails.update({ params, body: plain }))
  await checkMeanings([environmentId])
  const isEmpty = text.description === '' && text.tags.length === 0
  const sealed = isEmpty ? null : await keyring.call('sealDetails', { wrappedDek, environmentId, name, ...text })
  await api.secretDetails.update({ params, body: { ...plain, sealed, expectedRevision: revision } })
}
