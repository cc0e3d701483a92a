import type { accessRequests } from '@skerry/contract/access-requests/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { layersBelow } from '../envs/layers-below.ts'
import { fetchCached, orgQueries } from '../queries.ts'
import { type AccessRequest, ownersQuery } from '../requests/queries.ts'
import { envQuery } from '../secrets/queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'

type MissingGrant = Answer<typeof grants.missing>['missing'][number]

/** All queries about keys that people wait for, with the badge in the sidebar. */
export const missingQueries = (orgId: string) => orgQueries(orgId, 'missing-grants')

/** The keys that a person shall get because of a team or a plan. */
export const missingOfQuery = (orgId: string, userId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'missing-grants', userId],
    queryFn: ({ signal }) => listMissing(orgId, userId, signal),
    staleTime: 0,
  })

async function listMissing(orgId: string, userId: string, signal: AbortSignal): Promise<MissingGrant[]> {
  const all: MissingGrant[] = []
  let cursor: string | null = null
  do {
    const query = { userId, ...(cursor === null ? {} : { cursor }) }
    const page: Answer<typeof grants.missing> = await api.grants.missing({ params: { orgId }, query }, { signal })
    all.push(...page.missing)
    cursor = page.nextCursor
  } while (cursor !== null)
  return all.filter(({ principalId }) => principalId === userId)
}

/** A key that a person waits for. */
export interface WantedKey {
  environmentId: string
  label: string
  /** This person of the dashboard holds the key, and can pass it on. */
  held: boolean
  /** How long the access lasts; null until somebody revokes it. */
  seconds: number | null
  /** False if a team or a plan asks for the key, which is granted only while that is so. */
  direct: boolean
  /** The key was not asked for, but programs of a requested environment need it. */
  isComposed?: true
}

/** Everything that a person waits for: by teams and plans, and by their open requests for access. */
export const wantedQuery = (orgId: string, userId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'missing-grants', userId, 'wanted'],
    queryFn: async ({ signal }) => {
      const [missing, requests, { members }] = await Promise.all([
        listMissing(orgId, userId, signal),
        listOpen(orgId, userId, signal),
        fetchCached({ ...membersQuery(orgId), staleTime: 0 }),
        // The names under which this browser remembers environments.
        fetchCached(ownersQuery(orgId)),
      ])
      const requested = await Promise.all(requests.map((request) => wantedOf(orgId, request)))
      const planned = missing.map(
        ({ environmentId, label, held }): WantedKey => ({ environmentId, label, held, seconds: null, direct: false }),
      )
      const keys = new Map([...requested.flat(), ...planned].map((one) => [one.environmentId, one]))
      return { member: members.find((one) => one.userId === userId), keys: [...keys.values()] }
    },
    staleTime: 0,
  })

/** The keys of one request, with those of the groups that are composed into its environments. */
export async function wantedOf(orgId: string, request: AccessRequest): Promise<WantedKey[]> {
  const { forSeconds: seconds } = request
  const missing = request.environments.filter(({ granted }) => !granted)
  const asked = missing.map(
    ({ environmentId, label, held }): WantedKey => ({ environmentId, label, held, seconds, direct: true }),
  )
  const held = asked.filter((one) => one.held)
  const below = await Promise.all(
    held.map(async ({ environmentId }) =>
      layersBelow(orgId, (await fetchCached(envQuery(orgId, environmentId))).environment),
    ),
  )
  const ids = new Set(request.environments.map(({ environmentId }) => environmentId))
  const composed = new Map(below.flat().map(({ environmentId, label }) => [environmentId, label]))
  return [
    ...asked,
    ...[...composed].flatMap(([environmentId, label]): WantedKey[] =>
      ids.has(environmentId)
        ? []
        : [{ environmentId, label, held: true, seconds, direct: true, isComposed: true as const }],
    ),
  ]
}

async function listOpen(orgId: string, userId: string, signal: AbortSignal): Promise<AccessRequest[]> {
  const all: AccessRequest[] = []
  let cursor: string | null = null
  do {
    const query = { status: 'open' as const, ...(cursor === null ? {} : { cursor }) }
    const page: Answer<typeof accessRequests.list> = await api.accessRequests.list(
      { params: { orgId }, query },
      { signal },
    )
    all.push(...page.requests)
    cursor = page.nextCursor
  } while (cursor !== null)
  return all.filter((request) => request.userId === userId)
}
