import type { Body } from '@skerry/contract/endpoint'
import type { rotation } from '@skerry/contract/rotation/endpoints'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { wrapEnvironmentKey } from '../envs/wrap-key.ts'
import { checkTarget } from '../leases/known-targets.ts'
import { targetsQuery } from '../leases/queries.ts'
import { fetchCached } from '../queries.ts'
import { requireListed } from '../trust/checks.ts'

/**
 * Creates a rotation. Pass `rotatorKey` if the rotator does not have the environment's key yet. The keyring's worker
 * then wraps that key to the rotator, so the server can read the environment from then on.
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
  const rotator = { principalType: 'rotator', principalId: orgId, publicKeyJwk: rotatorKey }
  await requireListed(orgId, [rotator])
  const wrappedDek = await wrapEnvironmentKey(orgId, environmentId, rotator)
  return api.rotation.create({ params, body: { ...settings, wrappedDek } })
}

/** Asks the person if the settings of the rotation's target differ from those that this browser remembers. */
async function checkTargetOf(orgId: string, targetId: string): Promise<void> {
  const target = (await fetchCached(targetsQuery(orgId))).find(({ id }) => id === targetId)
  if (target) await checkTarget(orgId, target)
}
