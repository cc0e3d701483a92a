import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Resolved } from '@skerry/sdk'
import { createClient } from '@skerry/sdk/client'
import { onTestFinished } from 'vitest'
import { openAuthority } from '../src/authority.ts'
import { parseConfig } from '../src/config/config.ts'
import { type ProxyDeps, type RunningProxy, startProxy } from '../src/start.ts'

/** A request that an upstream received. */
interface Got {
  method: string
  url: string
  headers: IncomingMessage['headers']
  rawHeaders: string[]
  body: string
}

export interface Upstream {
  origin: string
  host: string
  port: number
  got: Got[]
  /** The certificate authority that a client must trust, for upstreams with TLS. */
  ca: string
  server: Server
}

/** Repeats the request in its answer, unless a listener is given. */
export async function startUpstream(listener?: RequestListener, tls?: { host: string }): Promise<Upstream> {
  const got: Got[] = []
  const answer: RequestListener = async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('latin1')) body += chunk
    const { method = '', url = '', headers, rawHeaders } = request
    got.push({ method, url, headers, rawHeaders, body })
    if (listener) return listener(request, response)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(got.at(-1)))
  }
  const secure = tls && (await certificateFor(tls.host))
  const server = secure ? createTlsServer({ SNICallback: secure.sni }, answer) : createServer(answer)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const host = tls?.host ?? '127.0.0.1'
  return { origin: `${tls ? 'https' : 'http'}://${host}:${port}`, host, port, got, ca: secure?.ca ?? '', server }
}

/** Creates a certificate of a separate authority, which is not the proxy's. */
export async function certificateFor(host: string) {
  const folder = await scratch()
  const authority = await openAuthority(join(folder, 'ca.pem'), join(folder, 'key.pem'))
  const context = await authority.contextFor(host)
  return {
    ca: await readFile(authority.certificatePath, 'utf8'),
    sni: (_: string, done: (error: null, found: typeof context) => void) => done(null, context),
  }
}

export async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-proxy-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export const resolvedOf = (values: Record<string, string>): Resolved => ({
  values,
  provenance: {},
  overridden: [],
  unresolved: [],
  unexpanded: new Map(),
  scope: { orgId: '', orgSlug: '', appId: '', appSlug: '', envId: '', envSlug: '' },
  stale: false,
  fetchedAt: '',
  ageSeconds: 0,
  revision: '',
})

export interface World extends RunningProxy {
  folder: string
  warnings: string[]
  deps: ProxyDeps
}

/** Starts a proxy with these settings and secrets. The routes use a free port, unless the settings begin with another. */
export async function startWorld(
  toml: string,
  values: Record<string, string> = {},
  more: Partial<ProxyDeps> = {},
): Promise<World> {
  const folder = await scratch()
  const warnings: string[] = []
  const resolved = resolvedOf(values)
  const deps: ProxyDeps = {
    resolve: async () => resolved,
    resolved,
    client: createClient({ baseUrl: 'http://127.0.0.1:1', credential: { bearer: 'x' }, retry: { attempts: 1 } }),
    sources: new Map(),
    controlToken: 'control-token',
    warn: (message) => warnings.push(message),
    ...more,
  }
  const listen = toml.startsWith('listen = ') ? '' : 'listen = "127.0.0.1:0"\n'
  const proxy = await startProxy(parseConfig(`${listen}${toml}`, folder), deps)
  onTestFinished(() => proxy.close())
  return { ...proxy, folder, warnings, deps }
}

/** Upstreams of tests have random ports, so blocks without ports get all of them. */
export const forward = (hosts: string, more = '') => {
  const open = hosts.replaceAll(/\[\[forward\.host\]\]\n(?!ports)/g, '[[forward.host]]\nports = ["1-65535"]\n')
  return `[egress]\nallow_cidr = ["127.0.0.0/8"]\n[forward]\nlisten = "127.0.0.1:0"\n${more}\n${open}`
}

/** Every name leads to this machine. */
export const lookUpHere: ProxyDeps['lookUp'] = (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }])

/** Sends raw bytes on a connection of their own -> everything that came back. */
export async function raw(origin: string, bytes: string | string[]): Promise<string> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  for (const part of [bytes].flat()) {
    socket.write(part, 'latin1')
    await new Promise((done) => setImmediate(done))
  }
  let text = ''
  for await (const chunk of socket.setEncoding('latin1')) text += chunk
  return text
}
