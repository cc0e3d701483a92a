import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** The parts of a log record that the collector stores. */
export interface Received {
  at: string
  severity: string
  body: string
  attributes: Record<string, unknown>
}

/** A receiver of log records over OTLP/HTTP. It refuses everything that the specification does not allow. */
export interface Collector {
  url: string
  port: number
  /** The records of all accepted requests, in order. */
  records: Received[]
  /** Headers of all requests, accepted or not. */
  requests: IncomingMessage['headers'][]
  /** Called for each request. Returns false if it has answered itself. If null, every request is accepted. */
  answer: ((response: ServerResponse, records: Received[]) => boolean | Promise<boolean>) | null
  close(): Promise<void>
}

export async function startCollector(port = 0): Promise<Collector> {
  const server = createServer(async (request, response) => {
    collector.requests.push(request.headers)
    try {
      const records = parseRequest(request, await text(request))
      if (collector.answer && !(await collector.answer(response, records))) return
      collector.records.push(...records)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    } catch (error) {
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ message: String(error) }))
    }
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const taken = (server.address() as AddressInfo).port
  const collector: Collector = {
    url: `http://127.0.0.1:${taken}/v1/logs`,
    port: taken,
    records: [],
    requests: [],
    answer: null,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return collector
}

type Json = Record<string, unknown>

function parseRequest({ method, url, headers }: IncomingMessage, body: string): Received[] {
  must(method === 'POST' && url === '/v1/logs', 'POST to /v1/logs')
  must(headers['content-type'] === 'application/json', 'the content type')
  const { resourceLogs } = fields(JSON.parse(body), ['resourceLogs'])
  return list(resourceLogs).flatMap((one) => {
    const { resource, scopeLogs } = fields(one, ['resource', 'scopeLogs', 'schemaUrl'])
    const about = fields(resource, ['attributes', 'droppedAttributesCount', 'entityRefs'])
    must(attributesOf(about.attributes)['service.name'] === 'skerry', 'service.name')
    return list(scopeLogs).flatMap((scoped) => {
      const { logRecords } = fields(scoped, ['scope', 'logRecords', 'schemaUrl'])
      return list(logRecords).map(recordOf)
    })
  })
}

const recordFields = ['timeUnixNano', 'observedTimeUnixNano', 'severityNumber', 'severityText', 'body', 'attributes']
const moreFields = ['droppedAttributesCount', 'flags', 'traceId', 'spanId', 'eventName']

function recordOf(given: unknown): Received {
  const record = fields(given, [...recordFields, ...moreFields])
  const { timeUnixNano, observedTimeUnixNano, severityNumber, severityText } = record
  // 64-bit integers are decimal strings in the JSON form.
  for (const instant of [timeUnixNano, observedTimeUnixNano])
    must(typeof instant === 'string' && /^\d{19}$/.test(instant), 'nanoseconds')
  must(severityNumber === 9 || severityNumber === 13, 'the number of the severity')
  must(severityText === (severityNumber === 9 ? 'INFO' : 'WARN'), 'the text of the severity')
  const body = plainOf(record.body)
  must(typeof body === 'string', 'the body')
  return {
    at: new Date(Number(BigInt(timeUnixNano as string) / 1_000_000n)).toISOString(),
    severity: severityText as string,
    body: body as string,
    attributes: attributesOf(record.attributes),
  }
}

function attributesOf(given: unknown): Json {
  const attributes: Json = {}
  for (const one of list(given)) {
    const { key, value } = fields(one, ['key', 'value'])
    must(typeof key === 'string' && key !== '' && !Object.hasOwn(attributes, key), 'keys that differ')
    attributes[key as string] = plainOf(value)
  }
  return attributes
}

function plainOf(given: unknown): unknown {
  const [entry, ...more] = Object.entries(given as Json)
  must(entry !== undefined && more.length === 0, 'one kind of value')
  const [kind, value] = entry as [string, unknown]
  if (kind === 'arrayValue') return list(fields(value, ['values']).values).map(plainOf)
  const isRight =
    (kind === 'stringValue' && typeof value === 'string') ||
    (kind === 'boolValue' && typeof value === 'boolean') ||
    (kind === 'intValue' && /^-?\d+$/.test(String(value))) ||
    (kind === 'doubleValue' && typeof value === 'number')
  must(isRight, `a ${kind}`)
  return value
}

function fields(given: unknown, known: string[]): Json {
  must(typeof given === 'object' && given !== null && !Array.isArray(given), 'an object')
  for (const name of Object.keys(given as Json)) must(known.includes(name), `no field ${name}`)
  return given as Json
}

function list(given: unknown): unknown[] {
  must(Array.isArray(given), 'a list')
  return given as unknown[]
}

function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`expected ${what}`)
}
