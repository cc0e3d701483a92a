import { ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode, parseKeyPairsIntoRecord } from '@opentelemetry/core'
import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Observed, Telemetry } from './telemetry.ts'

const protocols = {
  'http/json': { type: 'application/json', traces: JsonTraceSerializer, metrics: JsonMetricsSerializer },
  'http/protobuf': {
    type: 'application/x-protobuf',
    traces: ProtobufTraceSerializer,
    metrics: ProtobufMetricsSerializer,
  },
} as const

type Protocol = keyof typeof protocols

const timeoutMs = 10_000
/** Names of secrets and hosts come from requests, so their length is limited. */
const textMax = 256

/**
 * Sends traces and metrics by OTLP over HTTP, as OpenTelemetry's own variables say: OTEL_EXPORTER_OTLP_ENDPOINT,
 * _HEADERS, _PROTOCOL and OTEL_SERVICE_NAME.
 *
 * @throws Error that names the wrong variable.
 */
export function openTelemetry(env: NodeJS.ProcessEnv, warn: (message: string) => void): Telemetry {
  const { type, traces, metrics } = protocols[protocolOf(env)]
  const post = exporterOf(env, type, warn)
  const resource = resourceFromAttributes({ 'service.name': env.OTEL_SERVICE_NAME || 'skerry-proxy' })
  const tracers = new TracerProvider({
    resource,
    spanLimits: { attributeValueLengthLimit: textMax },
    spanProcessors: [new BatchSpanProcessor({ exporter: { ...post('traces', traces.serializeRequest), ...ends } })],
  })
  const reader = new PeriodicExportingMetricReader({
    exporter: { ...post('metrics', metrics.serializeRequest), ...ends },
  })
  const meters = new MeterProvider({ resource, readers: [reader] })
  return {
    ...recording(tracers, meters),
    // A warning has already reported what was lost.
    close: async () => void (await Promise.allSettled([tracers.shutdown(), meters.shutdown()])),
  }
}

/** Nothing is buffered between two requests to the collector. */
const ends = { forceFlush: async () => {}, shutdown: async () => {} }

function protocolOf({ OTEL_EXPORTER_OTLP_PROTOCOL: wanted = 'http/json' }: NodeJS.ProcessEnv): Protocol {
  if (Object.hasOwn(protocols, wanted)) return wanted as Protocol
  throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL must be one of ${Object.keys(protocols).join(', ')}`)
}

/** Warnings never repeat the collector's answer, because it may quote what it received. */
function exporterOf(env: NodeJS.ProcessEnv, type: string, warn: (message: string) => void) {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT ?? ''
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// address')
  const headers = { ...parseKeyPairsIntoRecord(env.OTEL_EXPORTER_OTLP_HEADERS), 'content-type': type }
  const send = async (signal: string, body: Uint8Array): Promise<ExportResult> => {
    const url = `${endpoint.replace(/\/+$/, '')}/v1/${signal}`
    const request = {
      method: 'POST',
      headers,
      body: Buffer.from(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    } as const
    const status = await fetch(url, request).then(
      ({ ok, status }) => (ok ? 'accepted' : `answered ${status}`),
      () => 'did not answer',
    )
    if (status === 'accepted') return { code: ExportResultCode.SUCCESS }
    warn(`telemetry: ${signal} were not sent: the collector ${status}`)
    return { code: ExportResultCode.FAILED }
  }
  return <T>(signal: string, serialize: (batch: T) => Uint8Array | undefined) => ({
    export: (batch: T, done: (result: ExportResult) => void) => void send(signal, serialize(batch)!).then(done),
  })
}

function recording(tracers: TracerProvider, meters: MeterProvider): Omit<Telemetry, 'close'> {
  const tracer = tracers.getTracer('skerry-proxy')
  const meter = meters.getMeter('skerry-proxy')
  const requests = meter.createCounter('skerry.proxy.requests', { description: 'requests, by decision' })
  const injections = meter.createCounter('skerry.proxy.injections', {
    description: 'secrets inserted into requests',
  })
  const redactions = meter.createCounter('skerry.proxy.redactions', { description: 'secrets replaced in answers' })
  const duration = meter.createHistogram('skerry.proxy.upstream_duration', {
    description: 'from the request to the first byte of the answer',
    unit: 's',
  })
  const begin: Telemetry['begin'] = ({ method, host, routePrefix }) => {
    const where = { 'skerry.upstream.host': host, 'http.request.method': method }
    const attributes = { ...where, ...(routePrefix === undefined ? {} : { 'skerry.route.prefix': routePrefix }) }
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, ROOT_CONTEXT)
    const { traceId, spanId } = span.spanContext()
    let sentAt = 0
    let reason: string | undefined
    let isOver = false
    const observed: Observed = {
      traceparent: `00-${traceId}-${spanId}-01`,
      permitted({ agent, policyVersion, ruleIndex, secrets }) {
        span.setAttributes({
          'skerry.policy.rule': ruleIndex,
          'skerry.secret.count': secrets.length,
          'skerry.secret.names': [...secrets],
          ...(agent === null ? {} : { 'skerry.agent.identity': agent }),
          ...(policyVersion === undefined ? {} : { 'skerry.policy.version': policyVersion }),
        })
        for (const name of secrets) injections.add(1, { ...where, 'skerry.secret.name': name })
      },
      sent() {
        sentAt = performance.now()
      },
      heard: () => duration.record((performance.now() - sentAt) / 1000, where),
      refused(refusal) {
        reason = refusal.reason
        span.setAttribute(refusal.status >= 500 ? 'error.type' : 'skerry.deny.reason', reason)
        if (refusal.secret !== undefined) span.setAttribute('skerry.secret.name', refusal.secret)
        if (refusal.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      },
      end(status) {
        if (isOver) return
        isOver = true
        requests.add(1, { ...where, ...(reason === undefined ? {} : { 'skerry.deny.reason': reason }) })
        span.setAttribute('http.response.status_code', status)
        span.end()
      },
    }
    return observed
  }
  return {
    begin,
    redacted: (host, name, times) =>
      redactions.add(times, { 'skerry.upstream.host': host, 'skerry.secret.name': name }),
  }
}
