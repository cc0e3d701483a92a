import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { RefusedError } from '@skerry/sdk/errors'
import type { PolicySource } from '@skerry/sdk/internal/policy-source'
import type { Config, Route } from './config/config.ts'
import type { Places } from './config/rules.ts'
import { Refusal } from './refusal.ts'
import type { Session } from './sessions.ts'

/** The policy that decides about a request. */
interface InForce {
  rules: readonly PolicyRule[]
  /** The places where a rule fills in placeholders. Null is everywhere. */
  placesOf(ruleIndex: number): Places
  /** Undefined if the policy is the settings file. */
  version: number | undefined
}

export interface Policies {
  /** @throws Refusal if no policy is in force: nothing is permitted then. */
  of(session: Session, route: Route | null): InForce
  /**
   * Whether any agent's policy names the host. An expired policy counts too, so that its hosts do not pass unchecked.
   */
  covers(host: string): boolean
  /** @throws the error that makes a policy unusable at the start. */
  start(): Promise<void>
  refresh(): Promise<void>
}

export function openPolicies(
  config: Config,
  sources: ReadonlyMap<string, PolicySource>,
  warn: (message: string) => void,
): Policies {
  return config.policy.source === 'file' ? filePolicies(config) : serverPolicies(config, sources, warn)
}

function filePolicies({ forward }: Config): Policies {
  const hosts = new Set(forward?.rules.map(({ host }) => host))
  const ofRoutes = new Map<Route, InForce>()
  const placesOf = (at: number) => forward?.places[at] ?? null
  const ofForward: InForce = { rules: forward?.rules ?? [], placesOf, version: undefined }
  const ofRoute = (route: Route): InForce => {
    const known = ofRoutes.get(route) ?? { rules: [route.rule], placesOf: () => route.places, version: undefined }
    ofRoutes.set(route, known)
    return known
  }
  return {
    of: (_, route) => (route ? ofRoute(route) : ofForward),
    covers: (host) => hosts.has(host),
    start: async () => {},
    refresh: async () => {},
  }
}

/** Answers that end a policy which was fetched before. The lack of an answer is not among them. */
const ends: Readonly<Record<string, string>> = {
  unauthorized: 'the server no longer accepts the proxy’s token',
  forbidden:
    'the server no longer sends the policy: the agent was disabled, or the proxy’s token is for another environment',
  not_found: 'the agent or its policy was deleted',
}

function serverPolicies(
  { policy }: Config,
  sources: ReadonlyMap<string, PolicySource>,
  warn: (message: string) => void,
): Policies {
  const hosts = new Map<string, ReadonlySet<string>>()
  /** Why an agent's policy is no longer in force, by agent. */
  const ended = new Map<string, string>()
  const placesOf = () => policy.in
  const load = async (agent: string, source: PolicySource): Promise<void> => {
    const { rules } = await source.refresh()
    hosts.set(agent, new Set(rules.map(({ host }) => host.toLowerCase())))
  }
  const reload = async (agent: string, source: PolicySource): Promise<void> => {
    try {
      await load(agent, source)
      ended.delete(agent)
    } catch (error) {
      const end = error instanceof RefusedError ? ends[error.code] : undefined
      if (end !== undefined) ended.set(agent, end)
      warn(
        `agent ${agent}: ${end ? 'nothing is sent any more' : 'the policy stays as it is'}: ${(error as Error).message}`,
      )
    }
  }
  return {
    of({ agent }) {
      const end = ended.get(agent ?? '')
      const body = end === undefined ? sources.get(agent ?? '')?.current() : undefined
      if (body) return { rules: body.rules, placesOf, version: body.policy_version }
      throw new Refusal(403, 'policy_unavailable', end ?? 'this agent has no policy that is valid now')
    },
    covers: (host) => [...hosts.values()].some((known) => known.has(host)),
    start: async () => void (await Promise.all([...sources].map(([agent, source]) => load(agent, source)))),
    refresh: async () => void (await Promise.all([...sources].map(([agent, source]) => reload(agent, source)))),
  }
}
