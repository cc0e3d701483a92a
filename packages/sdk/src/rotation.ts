import type { Answer, Body } from '@skerry/contract/endpoint'
import type { rotation } from '@skerry/contract/rotation/endpoints'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import type { EnvironmentKey } from './environment-key.ts'

export type Rotation = Answer<typeof rotation.get>['rotation']
export type ConfiguredRotation = Answer<typeof rotation.create>

/**
 * The secret to rotate, how and how often, as the API takes it. The wrapped key is missing, because this module makes
 * it.
 */
export type RotationSettings = Omit<Body<typeof rotation.create>, 'wrappedDek'> & { orgId: string }

/**
 * Configures the rotation of a secret, or replaces its configuration. If the server’s rotator does not have the
 * environment’s key yet, the key is wrapped to it: **from then on the server can read the whole environment**, until
 * its last policy is removed or the grant is revoked. Ask the person first.
 *
 * @param key the environment's key, which the caller must be able to read
 * @param rotator the answer of `client.rotation.rotatorKey`, after its key was checked
 * @throws RefusedError `invalid_request`, `forbidden`, `not_found`; `conflict` if the target refuses the account.
 * @example
 * const rotator = await client.rotation.rotatorKey({ params: { orgId } })
 * const config = { kind: 'generated' } as const
 * const settings = { orgId, environmentId: envId, secretName: 'KEY', config, intervalSeconds: 86_400 }
 * const { rotation } = await configureRotation(client, settings, key, rotator)
 */
export async function configureRotation(
  client: Client,
  { orgId, ...settings }: RotationSettings,
  key: Pick<EnvironmentKey, 'bytes'>,
  rotator: Answer<typeof rotation.rotatorKey>,
): Promise<ConfiguredRotation> {
  const isGranted = rotator.grantedEnvironmentIds.includes(settings.environmentId)
  const wrapped = isGranted ? {} : { wrappedDek: await wrapKey(key.bytes, rotator.publicKeyJwk) }
  return client.rotation.create({ params: { orgId }, body: { ...settings, ...wrapped } })
}
