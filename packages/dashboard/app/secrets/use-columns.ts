import type { apps } from '@skerry/contract/apps/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { envs } from '@skerry/contract/envs/endpoints'
import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Column, type Layer, mergeLayers } from './columns.ts'
import { type Queue, queuedQuery } from './protected.ts'
import { compositionQuery, groupQuery, type Sealed, sealedQuery } from './queries.ts'

export type Environment = Answer<typeof envs.get>['environment']
export type EnvironmentWithAccess = Answer<typeof apps.get>['environments'][number]

/** Returns the data and errors of several queries, in order. The arrays stay the same until their content changes. */
const combineResults = <T>(results: UseQueryResult<T>[]) => ({
  data: results.map(({ data }) => data),
  errors: results.map(({ error }) => error),
})

/** An environment with its lower layers, lowest precedence first. `layers` is undefined until they are known. */
interface Stack {
  environment: Environment
  layers: { environmentId: string; label: string }[] | undefined
  error: unknown
}

/** Returns environments as columns: each with the secrets that its programs get, and the layers that they come from. */
export function useColumns(orgId: string, environments: Environment[], parents: Environment[]): Column[] {
  const stacks = useStacks(orgId, environments, parents)
  const ids = [
    ...new Set(
      stacks.flatMap(({ environment, layers = [] }) => [environment.id, ...layers.map((l) => l.environmentId)]),
    ),
  ]
  const sealed = useQueries({
    queries: ids.map((id) => sealedQuery(orgId, id)),
    combine: combineResults<Sealed | null>,
  })
  const queued = useQueries({
    queries: environments.map(({ id }) => queuedQuery(orgId, id)),
    combine: combineResults<Queue>,
  })
  const key = JSON.stringify(stacks.map(({ environment, layers }) => [environment, layers]))
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says all of stacks
  return useMemo(() => {
    const found = new Map(ids.map((id, i) => [id, { data: sealed.data[i], error: sealed.errors[i] }]))
    return stacks.map((stack, i) => columnOf(stack, found, queued.data[i]))
  }, [key, sealed, queued])
}

type Found = ReadonlyMap<string, { data: Sealed | null | undefined; error: unknown }>

function columnOf({ environment, layers, error }: Stack, found: Found, queue: Queue | undefined): Column {
  const own = layerOf({ environmentId: environment.id, label: environment.slug }, found)
  const lower = (layers ?? []).map((place) => ({ place, layer: layerOf(place, found) }))
  const stack = [...lower.map(({ layer }) => layer), own].filter((layer) => layer !== undefined)
  const all = stack.filter((layer) => layer !== null)
  return {
    environmentId: environment.id,
    name: environment.name,
    slug: environment.slug,
    isBranch: environment.parentEnvironmentId !== null,
    own: own ?? null,
    layers: all,
    entries: mergeLayers(stack, environment.id),
    unreadable: lower.filter(({ layer }) => layer === null).map(({ place }) => place.label),
    loading: layers === undefined || own === undefined || lower.some(({ layer }) => layer === undefined),
    error:
      error ??
      [environment.id, ...lower.map(({ place }) => place.environmentId)]
        .map((id) => found.get(id)?.error)
        .find(Boolean),
    isProtected: queue?.isProtected ?? false,
    queued: queue?.names ?? new Set(),
    notNeeded: new Set(),
  }
}

function layerOf(place: { environmentId: string; label: string }, found: Found): Layer | null | undefined {
  const { data } = found.get(place.environmentId) ?? {}
  return data && { ...place, ...data }
}

function useStacks(orgId: string, environments: Environment[], parents: Environment[]): Stack[] {
  const bases = environments.map((one) => parents.find(({ id }) => id === one.parentEnvironmentId) ?? one)
  const composed = [...new Map(bases.filter((one) => one.applicationId !== null).map((one) => [one.id, one])).values()]
  const compositions = useQueries({
    queries: composed.map(({ id }) => compositionQuery(orgId, id)),
    combine: combineResults<Answered<typeof compositionQuery>>,
  })
  const groupIds = [...new Set(compositions.data.flatMap((one) => one?.groups.map(({ groupId }) => groupId) ?? []))]
  const groups = useQueries({
    queries: groupIds.map((id) => groupQuery(orgId, id)),
    combine: combineResults<Answered<typeof groupQuery>>,
  })
  return environments.map((environment, i) => {
    const base = bases[i] as Environment
    const at = composed.indexOf(base)
    const parent = base === environment ? [] : [{ environmentId: base.id, label: base.slug }]
    if (at < 0) return { environment, layers: parent, error: null }
    const answers = compositions.data[at]?.groups.map(({ groupId }) => groups.data[groupIds.indexOf(groupId)])
    const error = compositions.errors[at] ?? groups.errors.find(Boolean)
    if (!answers?.every((answer) => answer !== undefined)) return { environment, layers: undefined, error }
    const lower = answers.flatMap(({ group, environments: of }) =>
      of.filter(({ slug }) => slug === base.slug).map(({ id }) => ({ environmentId: id, label: group.slug })),
    )
    return { environment, layers: [...lower, ...parent], error }
  })
}

type Answered<Q extends (...args: never[]) => { queryFn?: unknown }> =
  ReturnType<Q> extends { queryFn?: infer F } ? (F extends (...args: never[]) => infer R ? Awaited<R> : never) : never
