import { type IncomingMessage, request as plainRequest } from 'node:http'
import { type Agent, request as tlsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type OutboundAnswer, OutboundError, type OutboundRequest } from '@skerry/providers/outbound'

const bytesMaxDefault = 1024 * 1024

interface Exchange {
  url: URL
  /** Host and port, for errors. */
  target: string
  request: OutboundRequest
  lookup: LookupFunction
  signal: AbortSignal
  ca: string | undefined
  /** Keeps connections open; false uses a connection for this request only. */
  agent: Agent | false
}

/**
 * Sends one request and reads its whole answer. It uses no agent from the environment, and so no proxy. It follows no
 * redirect, and decompresses nothing, so that the limit counts the bytes that a caller keeps in memory.
 */
export function exchange(exchanged: Exchange): Promise<OutboundAnswer> {
  const { url, target, request, lookup, signal, ca, agent } = exchanged
  const { promise, resolve, reject } = Promise.withResolvers<OutboundAnswer>()
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest
  const sent = send({
    host,
    port: url.port || undefined,
    path: url.pathname + url.search,
    method: request.method,
    headers: headersOf(request, url, body, agent ? 'keep-alive' : 'close'),
    agent,
    lookup,
    signal,
    // The name that the certificate must have. An IP address is checked against the addresses in the certificate, and
    // never sent as a server name.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  })
  sent.on('error', (error: NodeJS.ErrnoException) => {
    // The other side closed a kept-alive connection just when it was reused.
    const isStale = sent.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '')
    if (isStale) resolve(exchange({ ...exchanged, agent: false }))
    else reject(error)
  })
  sent.on('response', (response) => {
    const read = readAnswer(response, target, request)
    read.then(resolve, reject)
    // A connection whose answer was not read to the end cannot be reused.
    if (agent) read.catch(() => sent.destroy())
    else read.finally(() => sent.destroy()).catch(() => {})
  })
  sent.end(body)
  return promise
}

/**
 * Our headers take precedence: a caller can neither name another host than the checked one, nor request a compressed
 * answer.
 */
function headersOf(
  { headers = {}, method }: OutboundRequest,
  url: URL,
  body: Uint8Array | undefined,
  connection: 'keep-alive' | 'close',
) {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const hasLength = body !== undefined || ['POST', 'PUT', 'PATCH'].includes(method)
  const kept = given.filter(([name]) => !connectionHeaders.has(name))
  return {
    ...Object.fromEntries(kept),
    host: url.host,
    'accept-encoding': 'identity',
    connection,
    ...(hasLength ? { 'content-length': String(body?.byteLength ?? 0) } : {}),
  }
}

const connectionHeaders = new Set(['transfer-encoding', 'content-length', 'expect', 'upgrade', 'te', 'trailer'])

async function readAnswer(
  response: IncomingMessage,
  target: string,
  request: OutboundRequest,
): Promise<OutboundAnswer> {
  const bytesMax = request.bytesMax ?? bytesMaxDefault
  const encoding = response.headers['content-encoding']?.trim().toLowerCase()
  if (encoding && encoding !== 'identity' && request.method !== 'HEAD')
    throw new OutboundError('unreadable', `${target}: its answer is packed, although that was not asked for`)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new OutboundError('too_large', `${target}: its answer has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, headers: answerHeaders(response), body: Buffer.concat(chunks) }
}

const answerHeaders = (response: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(response.headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']))
