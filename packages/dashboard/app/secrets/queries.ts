import type { Answer } from '@skerry/contract/endpoint'
import type { secrets as secretEndpoints } from '@skerry/contract/secrets/endpoints'
import { RefusedError } from '@skerry/sdk/errors'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { branchesOf, noteShown } from '../envs/meanings.ts'
import { fetchNow } from '../queries.ts'

export type Secret = Answer<typeof secretEndpoints.list>['secrets'][number]

/** An environment's wrapped key and its secrets by name, still encrypted. */
export interface Sealed {
  wrappedDek: string
  secrets: ReadonlyMap<string, Secret>
}

export const appsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'apps'],
    queryFn: ({ signal }) => api.apps.list({ params: { orgId } }, { signal }),
  })

export const appQuery = (orgId: string, appId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'apps', appId],
    queryFn: async ({ signal }) => {
      const detail = await api.apps.get({ params: { orgId, appId } }, { signal })
      noteShown(orgId, detail.app.name, detail.environments)
      return detail
    },
  })

export const appBranchesQuery = (orgId: string, appId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'apps', appId, 'branches'],
    queryFn: async ({ signal }) => {
      const list = await api.apps.branches({ params: { orgId, appId } }, { signal })
      for (const branch of list.branches) noteShown(orgId, branchesOf(branch.parentEnvironmentId), [branch])
      return list
    },
  })

export const groupsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'groups'],
    queryFn: ({ signal }) => api.groups.list({ params: { orgId } }, { signal }),
  })

export const groupQuery = (orgId: string, groupId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'groups', groupId],
    queryFn: async ({ signal }) => {
      const detail = await api.groups.get({ params: { orgId, groupId } }, { signal })
      noteShown(orgId, `group ${detail.group.name}`, detail.environments)
      return detail
    },
  })

export const envQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId],
    queryFn: ({ signal }) => api.envs.get({ params: { orgId, envId } }, { signal }),
  })

export const compositionQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'groups'],
    queryFn: ({ signal }) => api.composition.list({ params: { orgId, envId } }, { signal }),
  })

export const protectionQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'protection'],
    queryFn: ({ signal }) => api.protection.get({ params: { orgId, envId } }, { signal }),
  })

/** The result is null if this person does not hold the environment's key. */
export const sealedQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'sealed'],
    queryFn: async ({ signal }): Promise<Sealed | null> => {
      const params = { orgId, envId }
      try {
        const [{ wrappedDek }, { secrets }] = await Promise.all([
          api.grants.own({ params }, { signal }),
          api.secrets.list({ params }, { signal }),
        ])
        return { wrappedDek, secrets: new Map(secrets.map((secret) => [secret.name, secret])) }
      } catch (error) {
        if (error instanceof RefusedError && error.code === 'forbidden') return null
        throw error
      }
    },
    // A comparison of thousands of secrets with the previous ones costs more than it saves.
    structuralSharing: false,
  })

/** Loads the environment's secrets from the server again, and updates the cache. */
export const reloadSealed = (orgId: string, envId: string): Promise<Sealed | null> =>
  fetchNow(sealedQuery(orgId, envId))

export const granteesQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'grantees'],
    queryFn: ({ signal }) => api.envs.grantees({ params: { orgId, envId } }, { signal }),
  })
