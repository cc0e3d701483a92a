import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type OutsideAnswer, OutsideError, type OutsideRequest } from '@skerry/providers/outside'

const bytesMaxDefault = 1024 * 1024

interface Exchange {
  url: URL
  /** Host and port, for errors. */
  target: string
  request: OutsideRequest
  lookup: LookupFunction
  signal: AbortSignal
  ca: string | undefined
}

/**
 * One request on a connection of its own, and its whole answer. No agent, so no kept connection and no proxy; nothing is
 * followed; nothing is unpacked, so that the limit counts what a caller would hold.
 */
export function exchange({ url, target, request, lookup, signal, ca }: Exchange): Promise<OutsideAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<OutsideAnswer>()
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest
  const sent = send({
    host,
    port: url.port || undefined,
    path: url.pathname + url.search,
    method: request.method,
    headers: headersOf(request, url, body),
    agent: false,
    lookup,
    signal,
    // The name that the certificate must be for. An address is checked against its addresses, and never sent as a name.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  })
  sent.on('error', reject)
  sent.on('response', (response) => {
    readAnswer(response, target, request)
      .then(resolve, reject)
      .finally(() => sent.destroy())
  })
  sent.end(body)
  return promise
}

/** Ours win: a caller cannot name another host than the one that was checked, nor ask for a packed answer. */
function headersOf({ headers = {}, method }: OutsideRequest, url: URL, body: Uint8Array | undefined) {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const hasLength = body !== undefined || ['POST', 'PUT', 'PATCH'].includes(method)
  const kept = given.filter(([name]) => !connectionHeaders.has(name))
  return {
    ...Object.fromEntries(kept),
    host: url.host,
    'accept-encoding': 'identity',
    connection: 'close',
    ...(hasLength ? { 'content-length': String(body?.byteLength ?? 0) } : {}),
  }
}

const connectionHeaders = new Set(['transfer-encoding', 'content-length', 'expect', 'upgrade', 'te', 'trailer'])

async function readAnswer(response: IncomingMessage, target: string, request: OutsideRequest): Promise<OutsideAnswer> {
  const bytesMax = request.bytesMax ?? bytesMaxDefault
  const encoding = response.headers['content-encoding']?.trim().toLowerCase()
  if (encoding && encoding !== 'identity' && request.method !== 'HEAD')
    throw new OutsideError('unreadable', `${target}: its answer is packed, although that was not asked for`)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new OutsideError('too_large', `${target}: its answer has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, headers: answerHeaders(response), body: Buffer.concat(chunks) }
}

const answerHeaders = (response: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(response.headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']))
