import { missingIn, toFailure } from './failure.ts'
import { eachAtOnce } from './parallel.ts'
import type { Session } from './session.ts'

/**
 * Finds the environment of a bound token that lacks a key, so that the server refuses to resolve it. The refusal names
 * the environment or one of its groups, which has the same slug. The token can list the environments of its own
 * application only, so the slug identifies the environment.
 */
export async function boundWithoutKeys(session: Session, error: unknown): Promise<{ orgId: string; envId: string }> {
  const missing = missingIn(error)
  const slug = (missing.find((one) => !one.includes(':')) ?? missing[0])?.replace(/^.*:/, '')
  const { id: orgId } = await session.org()
  const { apps } = await session.client.apps.list({ params: { orgId } })
  const own = await eachAtOnce(apps, async ({ id: appId }) => {
    const answer = await session.client.apps.envs({ params: { orgId, appId } }).catch((refused) => {
      if (toFailure(refused).kind !== 'refused') throw refused
    })
    return answer?.environments ?? []
  })
  const found = own.flat().find((one) => one.slug === slug)
  if (!found) throw error
  return { orgId, envId: found.id }
}
