import { limits } from '@skerry/contract/limits'
import { Failure, toFailure } from '../failure.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'

/** The number of secrets in an environment, and how many a command would add. */
interface Growth {
  present: number
  added: number
}

/**
 * Refuses new secrets for which an environment or the plan has no quota left. A dry run calls it; at a write the server
 * checks. A credential that may not see the plan skips that part.
 */
export async function checkQuota(session: Session, place: Place, { present, added }: Growth): Promise<void> {
  if (added === 0) return
  const most = limits.rekeySecretsMax
  if (present + added > most)
    throw exceeded(`${place.label} has ${present} secrets, and an environment can hold ${most}`, added)
  const view = await session.client.billing.get({ params: { orgId: place.orgId } }).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
  })
  const { quantity = null, included = null } = view?.usage.find(({ key }) => key === 'secrets') ?? {}
  if (!view?.enforced || quantity === null || included === null || quantity + added <= included) return
  throw exceeded(`the plan includes ${included} secrets, and ${quantity} are used`, added)
}

const exceeded = (limit: string, added: number) =>
  new Failure('refused', `${limit}; this would add ${added}`, 'delete secrets, or see `skerry plan usage`')
