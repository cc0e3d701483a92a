import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { openOutbound } from '../../src/outbound/outbound.ts'
import { withWaitLimits } from '../wait-limits.ts'
import type { World } from '../world.ts'

const pem = (name: string) => readFileSync(new URL(`../tls/${name}`, import.meta.url), 'utf8')

/** One received request. */
interface Hook {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A product's backend that receives webhooks over TLS. It stores them and verifies nothing. */
export interface WebhookReceiver {
  url: string
  hooks: Hook[]
  /** Called for each request. If null, every request is accepted. */
  answer: ((response: ServerResponse, hook: Hook) => void) | null
  close(): Promise<void>
}

export async function startWebhookReceiver(port = 0): Promise<WebhookReceiver> {
  const server = createServer({ key: pem('target.key'), cert: pem('target.pem') }, async (request, response) => {
    const hook = { path: request.url as string, headers: request.headers, body: await text(request) }
    receiver.hooks.push(hook)
    if (receiver.answer) receiver.answer(response, hook)
    else response.writeHead(204).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const receiver: WebhookReceiver = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    hooks: [],
    answer: null,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

/** Lets the server of a world reach receivers of this machine, and trust their certificate. */
export function trustReceivers({ server, clock, waitLimits }: World): void {
  const settings = { privateTargets: ['127.0.0.1'], providerOrigins: {} }
  const outbound = openOutbound(settings, { now: clock.now, ca: pem('ca.pem') })
  server.context.outbound = withWaitLimits(outbound, waitLimits)
}
