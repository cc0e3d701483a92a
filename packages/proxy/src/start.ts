import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo, ListenOptions } from 'node:net'
import type { Resolved } from '@skerry/sdk'
import type { Client } from '@skerry/sdk/client'
import type { PolicySource } from '@skerry/sdk/internal/policy-source'
import { sleep } from '@skerry/sdk/internal/transport'
import { openActivity } from './activity.ts'
import { type Held, openApprovals } from './approvals.ts'
import { openAuthority } from './authority.ts'
import type { Config } from './config/config.ts'
import type { ListenAddress } from './config/values.ts'
import { controlServer } from './control.ts'
import type { Core } from './core.ts'
import { openEgress, type Resolve, systemResolve } from './egress.ts'
import { forwardServer } from './forward.ts'
import { openPolicies } from './policies.ts'
import { openRatchet } from './ratchet.ts'
import { openSearches } from './response.ts'
import { reverseServer } from './reverse.ts'
import { openSecrets } from './secrets.ts'
import { openSessions } from './sessions.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { openUpstreams } from './upstream.ts'

/** The dependencies of a proxy, from the program that starts it. */
export interface ProxyDeps {
  /** Resolves the secrets again. */
  resolve: () => Promise<Resolved>
  /** The secrets that were resolved before the start. */
  resolved: Resolved
  client: Pick<Client, 'tasks'>
  /**
   * The token of a task. The listeners are then bound to it, whatever a request presents. They use free ports, because
   * they serve one program.
   */
  task?: string | undefined
  /** The policies of the agents in the settings. Empty if the policy is the settings file. */
  sources: ReadonlyMap<string, PolicySource>
  /** Undefined if the control listener is a socket file, or if there is none. */
  controlToken?: string | undefined
  /** Called for each request that waits for a person, with a signal that is aborted when it no longer waits. */
  onHeld?: ((held: Held, settled: AbortSignal) => void) | undefined
  telemetry?: Telemetry | undefined
  /** Certificates that are trusted instead of the system's, for your own upstreams. */
  upstreamCa?: string | undefined
  lookUp?: Resolve | undefined
  now?: (() => number) | undefined
  /** Warns the operator of the proxy. */
  warn: (message: string) => void
}

export interface RunningProxy {
  /** `http://127.0.0.1:8080`; undefined if the proxy does not listen there. */
  reverse: string | undefined
  forward: string | undefined
  control: string | undefined
  /** The certificate of the proxy's own authority, if there is a forward proxy. */
  certificatePath: string | undefined
  /** Decides about requests that wait for a person, as the control listener does. */
  approvals: Core['approvals']
  /** Runs at once what otherwise runs at intervals. */
  refresh(): Promise<void>
  flush(): Promise<void>
  /** Ends open connections, and sends the reports that are left. */
  close(): Promise<void>
}

/**
 * Starts a proxy, or throws and starts nothing. It throws if no policy is in force, if a secret cannot be expanded, or
 * if a listener cannot be opened.
 *
 * @throws Error with what to fix.
 */
export async function startProxy(config: Config, deps: ProxyDeps): Promise<RunningProxy> {
  checkControl(config, deps)
  const core = assemble(config, deps)
  await core.policies.start()
  // Throws if the task has ended, so that no program starts for it.
  if (deps.task !== undefined) await core.sessions.of(undefined)
  const authority = config.forward && (await openAuthority(config.forward.caCert, config.forward.caKey))
  const servers: Server[] = []
  const listen = async (server: Server, at: ListenOptions): Promise<string> => {
    servers.push(server)
    return listening(server, at)
  }
  const ended = new AbortController()
  const close = async () => {
    ended.abort()
    for (const server of servers) server.closeAllConnections()
    await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
    core.upstreams.close()
    await Promise.all([core.activity?.flush(), core.telemetry?.close()])
  }
  try {
    const { forward, control } = config
    const routes = config.routes.length > 0 ? reverseServer(core) : null
    const placeOf = (at: ListenAddress) => (deps.task === undefined ? at : { ...at, port: 0 })
    const reverse = routes ? await listen(routes, placeOf(config.listen)) : undefined
    const forwarding =
      forward && authority ? await listen(forwardServer(core, authority, routes), placeOf(forward.listen)) : undefined
    const controlling = control ? await listenForControl(core, config, deps, listen) : undefined
    const refresh = async () => void (await Promise.all([core.policies.refresh(), core.secrets.refresh()]))
    repeat(intervalOf(config), refresh, ended.signal)
    reconnect(core, config.cache, ended.signal)
    repeat(config.activity?.flushInterval ?? null, async () => core.activity?.flush(), ended.signal)
    return {
      reverse,
      forward: forwarding,
      control: controlling,
      certificatePath: authority?.certificatePath,
      approvals: core.approvals,
      refresh,
      flush: async () => core.activity?.flush(),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function assemble(config: Config, deps: ProxyDeps): Core {
  const { client, warn, now = Date.now, sources, telemetry = null, upstreamCa, lookUp = systemResolve } = deps
  const { activity, approval } = config
  const [agentRef] = config.agents
  return {
    config,
    warn,
    telemetry,
    sessions: openSessions({ config, client, now, warn, task: deps.task }),
    policies: openPolicies(config, sources, warn),
    secrets: openSecrets(deps.resolved, deps.resolve, warn),
    ratchet: openRatchet(config.ratchet),
    approvals:
      approval &&
      openApprovals({ timeoutSeconds: approval.timeout, rules: approval.require, now, onHeld: deps.onHeld }),
    activity:
      activity && agentRef !== undefined
        ? openActivity({
            maxCells: activity.maxCells,
            send: (body) => client.tasks.report({ params: { agentRef }, body }),
            now,
            warn,
          })
        : null,
    searches: openSearches(config),
    upstreams: openUpstreams(openEgress(config.egress, lookUp), upstreamCa),
  }
}

/** The server's policy and the secrets that it names are refreshed together. */
const intervalOf = ({ secrets, policy }: Config): number | null =>
  secrets.refreshInterval ?? (policy.source === 'server' ? policy.refreshInterval : null)

/** Asks the server until it answers, so that the cached copy is used no longer than necessary. */
function reconnect(
  { secrets }: Core,
  { reconnectInterval, reconnectMaxInterval }: Config['cache'],
  signal: AbortSignal,
): void {
  const loop = async () => {
    for (let seconds = reconnectInterval; secrets.isStale(); seconds = Math.min(seconds * 2, reconnectMaxInterval)) {
      await sleep(seconds * 1000, signal)
      await secrets.refresh()
    }
  }
  loop().catch(() => {})
}

function repeat(seconds: number | null, work: () => Promise<unknown>, signal: AbortSignal): void {
  if (seconds === null) return
  const loop = async () => {
    for (;;) {
      await sleep(seconds * 1000, signal)
      await work()
    }
  }
  // Only the signal ends the loop, because the work catches its own errors.
  loop().catch(() => {})
}

function checkControl({ control, approval }: Config, { controlToken, onHeld }: ProxyDeps): void {
  const isOverTcp = control !== null && (control.socket === null || control.listen !== null)
  if (isOverTcp && !controlToken)
    throw new Error('the control listener needs a token: set SKERRY_PROXY_CONTROL_TOKEN, or use control.socket')
  if (approval && control === null && onHeld === undefined)
    throw new Error('nobody could approve requests: add [control], or start the proxy on a terminal')
}

async function listenForControl(
  core: Core,
  { control }: Config,
  { controlToken }: ProxyDeps,
  listen: (server: Server, at: ListenOptions) => Promise<string>,
): Promise<string> {
  const { socket, listen: address } = control!
  let last = ''
  if (socket !== null) {
    removeLeftSocket(socket)
    // No other user may connect before the mode of the socket is set.
    const before = process.umask(0o177)
    last = await listen(controlServer(core, controlToken), { path: socket }).finally(() => process.umask(before))
    chmodSync(socket, 0o600)
  }
  if (socket === null || address !== null)
    last = await listen(controlServer(core, controlToken), address ?? { host: '127.0.0.1', port: 9090 })
  return last
}

/** Removes the socket file that a killed proxy left. It removes only sockets. */
function removeLeftSocket(path: string): void {
  try {
    if (!lstatSync(path).isSocket()) throw new Error(`${path} exists, but is not a socket`)
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

async function listening(server: Server, at: ListenOptions): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(at, resolve)
  const where = at.path ?? `${at.host}:${at.port}`
  await promise.catch((error) => {
    throw new Error(`cannot listen on ${where} (${error.code})`)
  })
  if (at.path !== undefined) return at.path
  const { address, port } = server.address() as AddressInfo
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}
