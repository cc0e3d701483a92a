import { useQuery } from '@tanstack/react-query'
import { sealedQuery } from '../secrets/queries.ts'
import { type Agent, type AgentRule, activityQuery } from './queries.ts'
import type { Suggestions } from './rules-form.tsx'

const days = 30

/** Suggests the names of the agent’s secrets, the hosts of its requests and rules, and the paths of its rules. */
export function useSuggestions(orgId: string, agent: Agent, rules: AgentRule[]): Suggestions {
  const { environmentId } = agent
  const sealed = useQuery({ ...sealedQuery(orgId, environmentId ?? ''), enabled: environmentId !== null })
  const activity = useQuery(activityQuery(orgId, agent.id, days)).data
  const requests = activity?.activity ?? []
  const unique = (texts: string[]) => [...new Set(texts)].filter((text) => text !== '').sort()
  return {
    secrets: unique([...(sealed.data?.secrets.keys() ?? []), ...rules.flatMap(({ allow }) => allow)]),
    hosts: unique([...requests.map(({ host }) => host), ...rules.map(({ host }) => host)]),
    paths: unique(rules.flatMap(({ paths }) => paths)),
  }
}
