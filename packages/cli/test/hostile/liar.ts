import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that passes on the answers of the honest server behind it, unless a test tells it to lie. */
export interface Liar {
  url: string
  /** From now on, rewrites the JSON answers to a path. */
  lie: (path: RegExp, rewrite: Rewrite) => void
  /** Refuses every request to a path. */
  refuse: (path: RegExp, message: string) => void
  /** The newest honest answer to a path. */
  heard: (path: RegExp) => Json
  /** The requests since the last lie, without GET: `PUT /v1/orgs/...`. */
  sent: () => string[]
  /** The bodies of the requests since the last lie, as texts. */
  received: () => string[]
  /** Removes all lies and refusals. */
  repent: () => void
  close: () => Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: a lie may have any shape
export type Json = any

type Rewrite = (body: Json, method: string) => unknown

export async function openLiar(target: string): Promise<Liar> {
  let lies: { path: RegExp; rewrite: Rewrite }[] = []
  let refusals: { path: RegExp; message: string }[] = []
  const answers: { path: string; text: string }[] = []
  let sent: string[] = []
  let received: string[] = []
  const server = createServer(async (incoming, outgoing) => {
    const method = incoming.method!
    const path = incoming.url!
    if (method !== 'GET') sent.push(`${method} ${path}`)
    const refusal = refusals.find((one) => one.path.test(path))
    if (refusal) {
      incoming.resume()
      outgoing.writeHead(403, { 'content-type': 'application/json' })
      return outgoing.end(JSON.stringify({ error: { code: 'forbidden', message: refusal.message } }))
    }
    const body = method === 'GET' || method === 'HEAD' ? undefined : await read(incoming)
    if (body) received.push(body)
    const { host: _, connection: __, 'if-none-match': ___, 'content-length': ____, ...headers } = incoming.headers
    const answer = await fetch(new URL(path, target), {
      method,
      headers: headers as Record<string, string>,
      ...(body ? { body } : {}),
    })
    let text = await answer.text()
    if (answer.ok && answer.headers.get('content-type')?.includes('json')) {
      answers.push({ path, text })
      for (const lie of lies) {
        if (lie.path.test(path)) text = JSON.stringify(lie.rewrite(JSON.parse(text), method))
      }
    }
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lie: (path, rewrite) => {
      lies.push({ path, rewrite })
      sent = []
      received = []
    },
    refuse: (path, message) => void refusals.push({ path, message }),
    sent: () => sent,
    received: () => received,
    heard: (path) => JSON.parse(answers.findLast((one) => path.test(one.path))!.text),
    repent: () => {
      lies = []
      refusals = []
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}

async function read(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  return text
}
