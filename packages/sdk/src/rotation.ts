import type { Answer, Body } from '@skerry/contract/endpoint'
import type { rotation } from '@skerry/contract/rotation/endpoints'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import type { EnvironmentKey } from './secrets.ts'

export type Rotation = Answer<typeof rotation.get>['rotation']
export type ConfiguredRotation = Answer<typeof rotation.create>

/** Which secret is rotated, how and how often, as the API takes it; the wrapped key is made here. */
export type RotationSettings = Omit<Body<typeof rotation.create>, 'wrappedDek'> & { orgId: string }

/**
 * Configures the rotation of a secret, or replaces its configuration. Where the server’s rotator does not hold the
 * environment’s key yet it is wrapped to it: **from then on the server can read the whole environment**, until its last
 * policy is removed or the grant is revoked. Ask the person first.
 *
 * @param key of the environment, which the caller must be able to read
 * @param rotator what `client.rotation.rotatorKey` has answered, after its key was checked
 * @throws RefusedError `invalid_request`, `forbidden`, `not_found`; `conflict` where the target refuses the account.
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
