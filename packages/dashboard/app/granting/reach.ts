import type { MissingFilter } from '@skerry/sdk/internal/granting'
import { useQueries, useQuery } from '@tanstack/react-query'
import { accessQuery } from '../people/access-queries.ts'
import type { OwnedEnvironment } from '../people/environment-choice.ts'
import type { Owner } from '../requests/queries.ts'
import { missingQuery, type TeamDetail } from '../teams/queries.ts'
import { type Principal, type Receiver, readinessOf } from './principals.ts'

interface Chosen {
  principals: readonly Principal[]
  teams: readonly TeamDetail[]
  receivers: readonly Receiver[]
  owners: readonly Owner[]
}

/** Returns the environments that everybody chosen can read already. */
export function useHas(orgId: string, { principals, teams, owners }: Chosen): ReadonlySet<string> {
  const needsAccess = principals.some(({ kind }) => kind !== 'team')
  const { data } = useQuery({ ...accessQuery(orgId), enabled: needsAccess })
  const held = new Set(
    (data?.access ?? []).flatMap(({ environmentId, principalId, inForce, endsAt }) =>
      inForce && endsAt === null ? [`${environmentId} ${principalId}`] : [],
    ),
  )
  const complete = new Set(
    teams.flatMap(({ team, environments }) =>
      environments.flatMap((one) => (one.missing === 0 ? [`${one.environmentId} ${team.id}`] : [])),
    ),
  )
  const hasIt =
    (environmentId: string) =>
    ({ kind, id }: Principal) =>
      (kind === 'team' ? complete : held).has(`${environmentId} ${id}`)
  const ids = owners.flatMap(({ environments }) => environments.map(({ id }) => id))
  return new Set(principals.length === 0 ? [] : ids.filter((id) => principals.every(hasIt(id))))
}

/**
 * Returns the environments whose keys could be granted now, because a team or a plan asks for them already. They are left
 * after an interruption, or after the words of a person were compared.
 */
export function useResumable(orgId: string, { principals, receivers }: Chosen): ReadonlySet<string> {
  const filters = principals.flatMap(({ kind, id }): MissingFilter[] =>
    kind === 'team' ? [{ teamId: id }] : kind === 'person' ? [{ userId: id }] : [],
  )
  const answers = useQueries({ queries: filters.map((filter) => missingQuery(orgId, filter)) })
  const ready = new Set(receivers.flatMap((one) => (readinessOf(one) === 'ready' ? [one.principalId] : [])))
  return new Set(
    answers.flatMap(({ data }) =>
      (data?.missing ?? []).flatMap(({ environmentId, principalId, held }) =>
        held && ready.has(principalId) ? [environmentId] : [],
      ),
    ),
  )
}

/** Returns a function that says why an environment cannot be ticked, or null. */
export function blockedBecause(
  { principals, receivers, owners }: Chosen,
  seconds: number | null,
): (environment: OwnedEnvironment) => string | null {
  const ofGroups = new Set(
    owners.flatMap(({ kind, environments }) => (kind === 'group' ? environments.map(({ id }) => id) : [])),
  )
  const named = receivers.filter(({ isNamed }) => isNamed)
  const nobodyIsReady = named.length > 0 && named.every((one) => !['ready', 'checking'].includes(readinessOf(one)))
  const onlyTokens = principals.length > 0 && principals.every(({ kind }) => kind === 'token')
  return ({ id, canDecrypt }) => {
    if (!canDecrypt && seconds !== null) return 'You do not hold the key, and access with an end cannot wait.'
    if (nobodyIsReady && seconds !== null) return 'Nobody gets a key now, and access with an end cannot wait.'
    if (!canDecrypt && onlyTokens) return 'You do not hold the key, and a token cannot wait for it.'
    const isElsewhere = ({ boundTo }: Receiver) => boundTo !== null && boundTo !== id && !ofGroups.has(id)
    if (onlyTokens && receivers.length > 0 && receivers.every(isElsewhere))
      return 'The token is bound to another environment.'
    return null
  }
}
