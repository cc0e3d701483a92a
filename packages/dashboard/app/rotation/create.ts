import type { Body } from '@skerry/contract/endpoint'
import type { rotation } from '@skerry/contract/rotation/endpoints'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { wrapEnvironmentKey } from '../envs/wrap-key.ts'
import { checkTarget } from '../leases/known-targets.ts'
import { targetsQuery } from '../leases/queries.ts'
import { queryClient } from '../queries.ts'

/**
 * Configures a rotation. `rotatorKey` is given where the rotator does not hold the environment’s key yet: that is wrapped to
 * it in the keyring's worker, and from then on the server can read the environment.
 */
export async function createRotation(
  orgId: string,
  settings: Omit<Body<typeof rotation.create>, 'wrappedDek'>,
  rotatorKey: string | null,
) {
  const params = { orgId }
  if (settings.targetId !== undefined) await checkTargetOf(orgId, settings.targetId)
  if (rotatorKey === null) return api.rotation.create({ params, body: settings })
  const { environmentId } = settings
  await checkMeanings([environmentId])
  const wrappedDek = await wrapEnvironmentKey(orgId, environmentId, { principalId: orgId, publicKeyJwk: rotatorKey })
  return api.rotation.create({ params, body: { ...settings, wrappedDek } })
}

/** The password is rotated on the target that this browser knows. */
async function checkTargetOf(orgId: string, targetId: string): Promise<void> {
  const target = (await queryClient.fetchQuery(targetsQuery(orgId))).find(({ id }) => id === targetId)
  if (target) await checkTarget(orgId, target)
}
