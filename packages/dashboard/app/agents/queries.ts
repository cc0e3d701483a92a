import type { agents } from '@skerry/contract/agents/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { tasks } from '@skerry/contract/tasks/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'

export type Agent = Answer<typeof agents.list>['agents'][number]
export type AgentPolicy = Answer<typeof agents.policies>['policies'][number]
export type AgentTask = Answer<typeof tasks.list>['tasks'][number]
export type AgentActivity = Answer<typeof tasks.activity>
export type AgentRule = AgentPolicy['rules'][number]

/** Tasks expire and proxies report every minute, so these lists reload every 15 seconds. */
const refreshMs = 15_000

export const agentsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'agents'],
    queryFn: async ({ signal }): Promise<Agent[]> => {
      const pages = await allPages((query) => api.agents.list({ params: { orgId }, query }, { signal }))
      return pages.flatMap(({ agents }) => agents)
    },
  })

export const policiesQuery = (orgId: string, agentId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'agents', agentId, 'policies'],
    queryFn: async ({ signal }): Promise<AgentPolicy[]> =>
      (await api.agents.policies({ params: { orgId, agentId } }, { signal })).policies,
  })

export const signerQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'agent-signer'],
    queryFn: ({ signal }) => api.agents.signer({ params: { orgId } }, { signal }),
  })

export const tasksQuery = (orgId: string, agentId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'agents', agentId, 'tasks'],
    queryFn: async ({ signal }): Promise<AgentTask[]> =>
      (await api.tasks.list({ params: { orgId, agentId } }, { signal })).tasks,
    refetchInterval: refreshMs,
  })

export const activityQuery = (orgId: string, agentId: string, days: number) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'agents', agentId, 'activity', days],
    queryFn: ({ signal }) => api.tasks.activity({ params: { orgId, agentId }, query: { days } }, { signal }),
    refetchInterval: refreshMs,
  })
