import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type ServerOptions } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { resolve as resolvePath } from 'node:path'
import { isLoopback } from '@skerry/contract/loopback'
import { type Cache, memoryCache } from '@skerry/sdk/cache'
import { parseDuration } from '../duration.ts'
import { unreadable } from '../files.ts'
import { note, warn } from '../output.ts'
import { resolveTarget } from '../run/target.ts'
import { select } from '../selection.ts'
import { openSession } from '../session.ts'
import { listen, listenOnSocket, ownSocket } from '../sockets.ts'
import { count } from '../units.ts'
import { answering } from './answers.ts'
import { openBearer } from './bearer.ts'
import { serveCredentials } from './credentials.ts'
import { type Options, type Place, placeOf } from './options.ts'
import { openSource, type Source } from './source.ts'

const hourMs = 3_600_000

/** Serves the secrets of an environment until a signal ends it. */
export async function serve(flags: Options): Promise<void> {
  const place = placeOf(flags)
  const maxAgeSeconds = parseDuration(flags.maxAge, '--max-age')
  const session = await openSession(flags)
  const { skerry, resolved, label } = await resolveTarget(session, {
    with: flags.with ?? [],
    cache: await cacheOf(flags, maxAgeSeconds),
    offline: false,
    maxAgeSeconds,
    overrides: false,
  })
  // As `skerry run`, it does not start without a secret that an option names, or with one that cannot be expanded.
  select(resolved, flags)
  const source = openSource(skerry, resolved)
  const servers: Server[] = []
  try {
    if (flags.credentials !== undefined) {
      const made = await serveCredentials(flags.credentials, { source, first: resolved, selection: flags })
      servers.push(...made)
      note(`${count(made.length, 'secret')} of ${label}, each in a socket in ${flags.credentials}`)
    }
    if (place !== undefined) servers.push(await serveHttp(place, source, flags, label))
    tellSystemd()
    await untilTold()
  } finally {
    for (const server of servers) server.close()
  }
  // Callers that still wait for an answer do not keep the program running.
  process.exit(0)
}

/** The copy for the time when the server is away. It is encrypted, on disk as in memory. */
async function cacheOf({ cache }: Options, maxAgeSeconds: number): Promise<Cache> {
  if (!cache) return memoryCache({ ttlSeconds: maxAgeSeconds })
  const { diskCache } = await import('@skerry/sdk/node/disk-cache')
  return diskCache()
}

/** Limits for callers that send slowly or much. An answer has no limit of time. */
const limits: ServerOptions = {
  maxHeaderSize: 8192,
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
}

async function serveHttp(place: Place, source: Source, selection: Options, label: string): Promise<Server> {
  if ('socket' in place) {
    const path = place.socket ?? ownSocket('serve')
    const server = createServer(limits, answering({ source, selection, guard: undefined }))
    await listenOnSocket(server, resolvePath(path))
    note(`the secrets of ${label} on the socket ${path}`)
    return server
  }
  const { host, port, hosts, tls } = place
  const bearer = openBearer(selection.tokenFile)
  const answer = answering({ source, selection, guard: { bearer, hosts, isLocal: isLoopback(host) } })
  const server = tls
    ? withTls(createTlsServer({ ...limits, ...readTls(tls) }, answer), tls)
    : createServer(limits, answer)
  server.maxConnections = 256
  await listen(server, { host, port })
  const { address, port: actual } = server.address() as AddressInfo
  if (!tls && !isLoopback(address))
    warn('the port has no TLS: others on the network can read the secrets and the token')
  const shown = address.includes(':') ? `[${address}]` : address
  note(
    `the secrets of ${label} on ${tls ? 'https' : 'http'}://${shown}:${actual}, for callers with the token in ${bearer.file}`,
  )
  return server
}

type TlsFiles = { cert: string; key: string }

const readTls = ({ cert, key }: TlsFiles) => ({ cert: read(cert), key: read(key), minVersion: 'TLSv1.2' as const })

/** A certificate is renewed in its file while the program runs. */
function withTls(server: TlsServer, files: TlsFiles): TlsServer {
  const renew = () => {
    try {
      server.setSecureContext(readTls(files))
    } catch (error) {
      warn(`the certificate was not read again: ${(error as Error).message}`)
    }
  }
  setInterval(renew, hourMs).unref()
  return server
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** Tells a unit with `Type=notify` and `NotifyAccess=all` that the sockets are there. */
function tellSystemd(): void {
  if (!process.env.NOTIFY_SOCKET) return
  const told = spawn('systemd-notify', ['--ready'], { stdio: 'ignore' })
  told.on('error', () => warn('systemd-notify is missing, so systemd does not hear that the service is ready'))
}

const untilTold = () =>
  new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => done())
  })
