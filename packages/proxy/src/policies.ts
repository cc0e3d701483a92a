import type { PolicyRule } from '@skerry/contract/policy-body'
import { RefusedError } from '@skerry/sdk/errors'
import type { PolicySource } from '@skerry/sdk/policy-source'
import type { Config, Route } from './config/config.ts'
import { Refusal } from './refusal.ts'
import type { Session } from './sessions.ts'

/** What decides about a request. */
export interface InForce {
  rules: readonly PolicyRule[]
  /** Undefined where the policy is the file. */
  version: number | undefined
}

export interface Policies {
  /** @throws Refusal where no policy is in force: nothing is permitted then. */
  of(session: Session, route: Route | null): InForce
  /** Whether any agent's policy names the host; also one that has expired, so that its hosts do not pass unseen. */
  covers(host: string): boolean
  /** @throws whatever makes a policy unusable at the start. */
  start(): Promise<void>
  refresh(): Promise<void>
}

export function openPolicies(
  config: Config,
  sources: ReadonlyMap<string, PolicySource>,
  warn: (message: string) => void,
): Policies {
  return config.policy.source === 'file' ? filePolicies(config) : serverPolicies(sources, warn)
}

function filePolicies({ forward }: Config): Policies {
  const hosts = new Set(forward?.rules.map(({ host }) => host))
  const ofRoutes = new Map<Route, InForce>()
  const ofForward: InForce = { rules: forward?.rules ?? [], version: undefined }
  const ofRoute = (route: Route): InForce => {
    const known = ofRoutes.get(route) ?? { rules: [route.rule], version: undefined }
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

function serverPolicies(sources: ReadonlyMap<string, PolicySource>, warn: (message: string) => void): Policies {
  const hosts = new Map<string, ReadonlySet<string>>()
  let isRevoked = false
  const load = async (agent: string, source: PolicySource): Promise<void> => {
    const { rules } = await source.refresh()
    hosts.set(agent, new Set(rules.map(({ host }) => host.toLowerCase())))
  }
  return {
    of({ agent }) {
      const body = isRevoked ? undefined : sources.get(agent ?? '')?.current()
      if (body) return { rules: body.rules, version: body.policy_version }
      const why = isRevoked ? 'the server does not know the proxy’s token any more' : 'no policy is in force'
      throw new Refusal(403, 'policy_unavailable', why)
    },
    covers: (host) => [...hosts.values()].some((known) => known.has(host)),
    start: async () => void (await Promise.all([...sources].map(([agent, source]) => load(agent, source)))),
    async refresh() {
      const ended = await Promise.all(
        [...sources].map(async ([agent, source]) => {
          try {
            await load(agent, source)
            return false
          } catch (error) {
            warn(`agent ${agent}: the policy stays as it is: ${(error as Error).message}`)
            return error instanceof RefusedError && error.code === 'unauthorized'
          }
        }),
      )
      // A token that was revoked is good for nothing, whatever policy it has fetched before.
      isRevoked = ended.some(Boolean)
    },
  }
}
