import { Agent, type IncomingMessage, request } from 'node:http'

interface Sending {
  method: string
  headers?: Record<string, string>
  body?: string | Uint8Array | undefined
}

const agent = new Agent({ keepAlive: true })

/**
 * Sends a request to a server of a test, like `fetch`, and takes a third of its processor time. Some suites send
 * thousands of requests.
 */
export function send(url: string, { method, headers = {}, body }: Sending): Promise<IncomingMessage> {
  const usual = { accept: '*/*', 'user-agent': 'node' }
  // Node adds no length to a DELETE with a body.
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers: { ...usual, ...length, ...headers } }, resolve)
    sent.on('error', reject)
    // Node would write the headers in the encoding of a body that is text.
    sent.end(typeof body === 'string' ? Buffer.from(body) : body)
  })
}

export const statusOf = ({ statusCode }: IncomingMessage): number => statusCode as number

export function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string)
  return headers
}

export async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const piece of response) text += piece
  return text
}
