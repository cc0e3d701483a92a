import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startUpstream, startWorld } from '../../test/world.ts'
import { openTelemetry } from './otlp.ts'

const value = 'planted-7c2e-value'

interface Received {
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A collector that stores the requests that it gets. */
async function startCollector(answer: RequestListener = (_, response) => response.end('{}')) {
  const got: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    got.push({ url: request.url!, headers: request.headers, body: Buffer.concat(chunks) })
    answer(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got }
}

/** Sends two requests, of which one is refused. The upstream sends back what it got. */
async function watched(env: Record<string, string>, settings = '') {
  const warnings: string[] = []
  const upstream = await startUpstream()
  const route = `[[route]]\nprefix = "/api"\nupstream = "${upstream.origin}"\nallow = ["API_KEY"]\n`
  const telemetry = openTelemetry(env, (message) => warnings.push(message))
  const world = await startWorld(`${settings}${route}`, { API_KEY: value }, { telemetry })
  for (const name of ['API_KEY', 'OTHER'])
    await (await fetch(`${world.reverse}/api/private-path?q=asked`, { headers: { a: `{{skerry:${name}}}` } })).text()
  await world.close()
  return { upstream, warnings }
}

/** Finds every attribute in OTLP JSON, at any depth. */
function attributesOf(node: unknown): [key: string, value: unknown][] {
  if (typeof node !== 'object' || node === null) return []
  const own = 'key' in node && 'value' in node ? [[String(node.key), node.value] as [string, unknown]] : []
  return [...own, ...Object.values(node).flatMap(attributesOf)]
}

const known = [
  ...['error.type', 'http.request.method', 'http.response.status_code', 'service.name', 'skerry.deny.reason'],
  ...['skerry.policy.rule', 'skerry.route.prefix', 'skerry.secret.count', 'skerry.secret.name', 'skerry.secret.names'],
  'skerry.upstream.host',
]

test('a collector gets traces and metrics with names only, and without any value, path, query or header', async () => {
  const { endpoint, got } = await startCollector()
  const headers = 'x-key=collector-key'
  await watched({ OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`, OTEL_EXPORTER_OTLP_HEADERS: headers })
  expect([...new Set(got.map(({ url }) => url))].sort()).toEqual(['/v1/metrics', '/v1/traces'])
  for (const { headers, body } of got) {
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-key': 'collector-key' })
    expect(body.toString()).not.toMatch(/planted|private-path|asked|collector-key|\{\{/)
    for (const [key] of attributesOf(JSON.parse(body.toString()))) expect(known).toContain(key)
  }
  const sentTo = (url: string) => got.filter((one) => one.url === url).map(({ body }) => JSON.parse(body.toString()))
  // Spans are sent every five seconds, however many there are.
  const spans = sentTo('/v1/traces').flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans)
  const said = spans.map((span: { attributes: unknown }) => Object.fromEntries(attributesOf(span.attributes)))
  expect(said).toMatchObject([
    { 'skerry.secret.count': { intValue: 1 }, 'http.response.status_code': { intValue: 200 } },
    { 'skerry.deny.reason': { stringValue: 'denied' }, 'skerry.secret.name': { stringValue: 'OTHER' } },
  ])
  const names = sentTo('/v1/metrics')
    .at(-1)
    .resourceMetrics[0].scopeMetrics[0].metrics.map((one: { name: string }) => one.name)
  expect(names.sort()).toEqual(
    ['injections', 'redactions', 'requests', 'upstream_duration'].map((name) => `skerry.proxy.${name}`),
  )
})

test('a collector also gets traces and metrics as Protocol Buffers', async () => {
  const { endpoint, got } = await startCollector()
  await watched({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' })
  expect([...new Set(got.map(({ url }) => url))].sort()).toEqual(['/v1/metrics', '/v1/traces'])
  for (const { headers, body } of got) {
    expect(headers['content-type']).toBe('application/x-protobuf')
    expect(body.includes(value)).toBe(false)
  }
  for (const of of ['/v1/metrics', '/v1/traces']) {
    const sent = Buffer.concat(got.filter(({ url }) => url === of).map(({ body }) => body))
    expect([of, sent.includes('skerry.upstream.host')]).toEqual([of, true])
  }
})

test('the upstream gets the id of the trace if the settings say so', async () => {
  const { endpoint, got } = await startCollector()
  const { upstream } = await watched({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, 'propagate_trace_upstream = true\n')
  const [, traceId] = /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/.exec(String(upstream.got[0]!.headers.traceparent)) ?? []
  const traces = got.filter(({ url }) => url === '/v1/traces')
  expect(traces.map(({ body }) => body.toString()).join()).toContain(traceId)
})

test('a collector that refuses or redirects causes a warning, and no request fails', async () => {
  const other = await startCollector()
  const { endpoint } = await startCollector((_, response) =>
    response.writeHead(307, { location: `${other.endpoint}/v1/traces` }).end(),
  )
  const { upstream, warnings } = await watched({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
  expect(upstream.got).toHaveLength(1)
  expect(other.got).toEqual([])
  expect(warnings).toContain('telemetry: traces were not sent: the collector answered 307')
})

test.each([
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// address',
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/json, http/protobuf',
  ],
])('the setting %j is refused', (env, message) => {
  expect(() => openTelemetry(env, () => {})).toThrow(message)
})
