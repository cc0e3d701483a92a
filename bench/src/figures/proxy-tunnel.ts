import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../packages/server/test/services/free-port.ts'
import { startFloor } from '../child.ts'
import type { Bench } from '../figure.ts'
import { compare } from '../measure.ts'
import { request } from '../tenant.ts'
import { body, routeTo } from './proxy-route.ts'

/** Requests inside of CONNECT, on kept connections. Both proxies end the client's TLS and use TLS to the upstream. */
export async function proxyTunnel(bench: Bench): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-bench-'))
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
  const [upstreamPort, oursPort, floorPort] = [await freePort(), await freePort(), await freePort()]
  await using upstream = await startFloor('fixed-tls', { folder, port: upstreamPort, body })
  const ca = readFileSync(join(folder, 'ca.pem'), 'utf8')
  await using floor = await startFloor('passing-tls', { folder, port: floorPort, upstream: upstreamPort })
  await using ours = await startFloor('proxied', {
    settings: `${routeTo(upstream.port)}${interception(folder, oursPort)}`,
    upstreamCa: ca,
  })
  const to = `localhost:${upstreamPort}`
  const asked = request('GET', '/v1/items', '{{skerry:API_KEY}}').replace('Host: 127.0.0.1', `Host: ${to}`)
  const { perSecond } = await compare(
    bench,
    { name: 'interception', requests: [asked], server: ours, tunnel: { port: oursPort, to, ca } },
    { name: 'bare TLS proxy', requests: [asked], server: floor, tunnel: { port: floorPort, to, ca } },
  )
  return perSecond
}

const interception = (folder: string, port: number) => `
[egress]
allow_cidr = ["127.0.0.0/8"]
[forward]
listen = "127.0.0.1:${port}"
ca_cert = "${join(folder, 'ca.pem')}"
ca_key = "${join(folder, 'key.pem')}"
[[forward.host]]
match = "localhost"
allow = ["API_KEY"]
`
