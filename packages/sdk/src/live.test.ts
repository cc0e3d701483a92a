import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createClient } from './client.ts'
import { follow, type LiveChange } from './live.ts'

const orgId = 'org_0000000000000000000000'
const change: LiveChange = {
  action: 'app.updated',
  resourceType: 'application',
  actorType: 'user',
  at: '2026-10-04T12:00:00.000Z',
}
const hello = 'retry: 2000\n\nevent: hello\ndata: {"generation":"1"}\n\n'
const changed = `event: change\nid: aud_1\ndata: ${JSON.stringify(change)}\n\n`

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server whose answers the test writes -> a client, and the streams that were opened. */
async function streaming(answer: (response: ServerResponse, count: number) => void) {
  let count = 0
  const server = createServer((_, response) => answer(response, ++count))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const controller = new AbortController()
  closing.push(() => {
    controller.abort()
    server.close()
    server.closeAllConnections()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const seen: string[] = []
  const following = follow(createClient({ baseUrl, credential: { bearer: 'skt_x' } }), {
    orgId,
    signal: controller.signal,
    onGap: () => void seen.push('gap'),
    onChange: ({ action }) => void seen.push(action),
    onPresence: ({ people }) => void seen.push(`${people.length} people`),
    onLost: () => void seen.push('lost'),
  })
  return { seen, following, controller }
}

test('events come in order, in whatever pieces they arrive, and comments and unknown events are skipped', async () => {
  const { seen, following, controller } = await streaming((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const presence = 'event: presence\ndata: {"applicationId":"app_1","people":[]}\n\n'
    const text = `${hello}: \n\nevent: later\ndata: {}\n\n${changed}${presence}`
    for (const piece of text.match(/[\s\S]{1,7}/g) ?? []) response.write(piece)
  })
  await vi.waitFor(() => expect(seen).toEqual(['gap', 'app.updated', '0 people']))
  controller.abort()
  await following
})

test('a stream that ends is opened again, and the caller is told of the gap', async () => {
  const { seen } = await streaming((response, count) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(hello)
    if (count === 1) response.end(changed)
  })
  await vi.waitFor(() => expect(seen).toEqual(['gap', 'app.updated', 'lost', 'gap']), { timeout: 10_000 })
})

test('follow rejects if the server refuses the stream', async () => {
  const { following } = await streaming((response) =>
    response
      .writeHead(401, { 'content-type': 'application/json' })
      .end('{"error":{"code":"unauthorized","message":"unknown service token"}}'),
  )
  await expect(following).rejects.toMatchObject({ code: 'unauthorized' })
})

test('follow rejects if an event is not JSON', async () => {
  const { following } = await streaming((response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('event: hello\ndata: {\n\n'),
  )
  await expect(following).rejects.toMatchObject({ code: 'malformed_answer' })
})
