import { once } from 'node:events'
import { Agent } from 'node:https'
import { type LookupFunction, connect as openSocket, type Socket } from 'node:net'
import { type Networks, networksOf } from '@skerry/providers/addresses'
import { type Outbound, type OutboundAnswer, OutboundError, type OutboundRequest } from '@skerry/providers/outbound'
import { checkNoTransaction } from '../db/transaction-guard.ts'
import { exchange } from './exchange.ts'
import { outboundError } from './failures.ts'
import { canonicalHost, guardedLookup, type Resolve, systemResolve } from './guard.ts'

/**
 * The only way out for connections whose address users can choose: webhooks, log sink, sync, leases, rotation. Services
 * that only the operator configures do not use it, and may be in any network: the database (db/), the identity provider
 * (identity/oidc.ts, features/sign-in/external-client.ts) and the SMTP server (jobs/mail.ts). Of these, only the
 * database is used while a transaction is open.
 */
export interface GuardedOutbound extends Outbound {
  /** The same without plain HTTP, whatever the operator allows. For webhooks. */
  readonly httpsOnly: Outbound
  /**
   * Opens connections for many requests within seconds: https only, and kept alive. Each name is resolved and checked
   * once, and every connection uses that result. A request may be sent twice if the other side closed the connection
   * meanwhile.
   */
  keepConnections(): Kept
}

export interface Kept extends Disposable {
  send: Outbound['send']
}

interface Settings {
  privateTargets: readonly string[]
  providerOrigins: Readonly<Record<string, string>>
}

interface Ports {
  now: () => Date
  resolve?: Resolve
  /** Certificate authorities as PEM, instead of those of Node. */
  ca?: string
}

const timeoutMsDefault = 30_000

export function openOutbound(settings: Settings, { now, resolve = systemResolve, ca }: Ports): GuardedOutbound {
  const listed = networksOf(settings.privateTargets)
  const parts = { listed, resolve, ca }
  const outbound = {
    connect: (to: Target) => connect(to, parts),
    now,
    origin: (provider: string, own: string) =>
      Object.hasOwn(settings.providerOrigins, provider) ? (settings.providerOrigins[provider] as string) : own,
  }
  return {
    ...outbound,
    send: (request) => send(request, { ...parts, plain: true }),
    httpsOnly: { ...outbound, send: (request) => send(request, { ...parts, plain: false }) },
    keepConnections() {
      const kept = { agent: new Agent({ keepAlive: true }), lookups: new Map() }
      return {
        send: (request) => send(request, { ...parts, plain: false, kept }),
        [Symbol.dispose]: () => kept.agent.destroy(),
      }
    },
  }
}

/** Connections, and for each host and port the lookup function that knows only the allowed addresses. */
interface Connections {
  agent: Agent
  lookups: Map<string, Promise<LookupFunction>>
}

interface Parts {
  listed: Networks
  resolve: Resolve
  ca: string | undefined
}

interface Target {
  host: string
  port: number
  timeoutMs: number
}

async function send(
  request: OutboundRequest,
  { plain, listed, resolve, ca, kept }: Parts & { plain: boolean; kept?: Connections },
): Promise<OutboundAnswer> {
  checkNoTransaction()
  const url = readUrl(request.url, plain)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const target = `${host}:${port}`
  const deadline = AbortSignal.timeout(request.timeoutMs ?? timeoutMsDefault)
  const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline
  try {
    const reach = url.protocol === 'https:' ? 'public' : 'listed'
    const looking = kept?.lookups.get(target) ?? guardedLookup({ host, port, reach, listed, resolve }, signal)
    kept?.lookups.set(target, looking)
    const lookup = await looking
    return await exchange({ url, target, request, lookup, signal, ca, agent: kept?.agent ?? false })
  } catch (error) {
    throw outboundError(error, target, { deadline, signal: request.signal })
  }
}

function readUrl(text: string, plain: boolean): URL {
  const url = URL.parse(text)
  if (!url) throw new OutboundError('unsendable', 'the address is not a URL')
  if (url.protocol !== 'https:' && !(plain && url.protocol === 'http:'))
    throw new OutboundError('unsendable', `the address must start with https://`)
  if (url.username || url.password) throw new OutboundError('unsendable', 'the address has credentials in it')
  url.hostname = url.hostname.replace(/\.$/, '')
  return url
}

async function connect({ host: given, port, timeoutMs }: Target, { listed, resolve }: Parts): Promise<Socket> {
  checkNoTransaction()
  const host = canonicalHost(given)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new OutboundError('unsendable', 'the port is not a number from 1 to 65535')
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const lookup = await guardedLookup({ host, port, reach: 'public', listed, resolve }, deadline)
    const socket = openSocket({ host, port, lookup })
    try {
      await once(socket, 'connect', { signal: deadline })
      return socket
    } catch (error) {
      socket.on('error', () => {}).destroy()
      throw error
    }
  } catch (error) {
    throw outboundError(error, `${host}:${port}`, { deadline })
  }
}
