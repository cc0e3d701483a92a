import { resolve } from 'node:path'
import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { parse, TomlError } from 'smol-toml'
import { checkTogether } from './checks.ts'
import { ratchetOf } from './ratchet.ts'
import { ConfigError } from './read.ts'
import { type Places, ruleOf } from './rules.ts'
import type { PortRange } from './values.ts'
import { readWritten, type Written } from './written.ts'

/** Names of the secrets that form the AWS key with which requests are signed again. */
export type SigningNames = NonNullable<Written['route'][number]['sigv4']>

/** A reverse route: requests under its prefix go to its upstream. */
export interface Route {
  prefix: string
  upstream: URL
  /**
   * Headers for each request. They replace headers of the same names from the client, and their placeholders are filled
   * in.
   */
  headers: Readonly<Record<string, string>>
  sigv4: SigningNames | null
  places: Places
  /** The only rule of the route, unless the policy comes from the server. */
  rule: PolicyRule
}

/** Settings for all requests to a host of the forward proxy, whichever of its rules decides. */
interface HostSettings {
  sigv4: SigningNames | null
  /** Whether secrets may be sent to the host without TLS. */
  allowHttp: boolean
  /** Null allows only the usual port of the scheme. */
  ports: readonly PortRange[] | null
}

/** The checked settings of a proxy. Times are in seconds. */
export interface Config extends Omit<Written, 'route' | 'forward' | 'ratchet' | 'approval' | 'requireTask'> {
  /** Whether a request must present a task or ticket. By default, it must if the proxy accepts tasks. */
  requireTask: boolean
  /** Longest prefix first. */
  routes: Route[]
  forward:
    | (Omit<NonNullable<Written['forward']>, 'host'> & {
        rules: PolicyRule[]
        /** The places of a request where secrets may be put, by the index of their rule. */
        places: Places[]
        hosts: ReadonlyMap<string, HostSettings>
      })
    | null
  ratchet: ReturnType<typeof ratchetOf> | null
  approval: { timeout: number; require: PolicyRule[] } | null
  /** Every agent whose policy this proxy enforces. The first one is used for requests without a ticket. */
  agents: string[]
}

/**
 * Reads `skerry-proxy.toml`.
 *
 * @param folder the folder of the file, at which relative paths in it start.
 * @throws ConfigError with the field that is wrong.
 */
export function parseConfig(toml: string, folder: string): Config {
  const written = readWritten(parseToml(toml), '')
  checkTogether(written)
  const { route: routes, forward, ratchet, approval, policy, control, cache, requireTask, ...rest } = written
  return {
    ...rest,
    policy,
    requireTask: requireTask ?? rest.tasks !== null,
    control: control && { ...control, socket: control.socket === null ? null : resolve(folder, control.socket) },
    cache: { ...cache, dir: cache.dir === null ? null : resolve(folder, cache.dir) },
    routes: routes.map((one, at) => routeOf(one, `route[${at}]`)).sort((a, b) => b.prefix.length - a.prefix.length),
    forward: forward && forwardOf(forward, folder),
    ratchet: ratchet && ratchetOf(ratchet),
    approval: approval && {
      timeout: approval.timeout,
      require: approval.require.map((one, at) => ruleOf(one, `approval.require[${at}]`)),
    },
    agents: [...new Set([...(policy.agent === null ? [] : [policy.agent]), ...policy.agents])],
  }
}

function parseToml(toml: string): unknown {
  try {
    return parse(toml)
  } catch (error) {
    if (error instanceof TomlError) throw new ConfigError(`line ${error.line}`, 'is not TOML')
    throw error
  }
}

function routeOf(
  { prefix, upstream, headers, sigv4, in: places, ...rule }: Written['route'][number],
  place: string,
): Route {
  // An address in brackets is no hostname. A route needs no hostname in its rule, because the rule is only for this
  // route.
  const { host: _, ...checked } = ruleOf({ ...rule, host: 'upstream' }, place)
  const host = upstream.hostname.replace(/^\[|\]$/g, '')
  return { prefix: prefix.replace(/\/+$/, ''), upstream, headers, sigv4, places, rule: { host, ...checked } }
}

function forwardOf({ host, ...rest }: NonNullable<Written['forward']>, folder: string): NonNullable<Config['forward']> {
  return {
    ...rest,
    caCert: resolve(folder, rest.caCert),
    caKey: resolve(folder, rest.caKey),
    rules: host.map((one, at) => ruleOf({ ...one, host: one.match }, `forward.host[${at}]`, 'match')),
    places: host.map(({ in: places }) => places),
    hosts: new Map(
      host.map(({ match, sigv4, allowHttp, ports }) => [match.toLowerCase(), { sigv4, allowHttp, ports }]),
    ),
  }
}
