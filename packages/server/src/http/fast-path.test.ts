import { once } from 'node:events'
import { connect } from 'node:net'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { expect, test } from 'vitest'
import { ciphertext } from '../../test/blobs.ts'
import { openEnv } from '../../test/scene.ts'
import { newEnv, putSecret } from '../../test/tenant.ts'
import { sha256 } from '../kernel/context.ts'

const { world, tenant, appId, envId } = await openEnv({ SKERRY_RATE_LIMITS: 'on' })
await putSecret(world, tenant, envId, 'NAME')
const as = tenant.admin.as
const ask = () => world.call(resolve.get, { as, query: { env: envId } })
// From now on, token and answer are cached.
const first = await ask()

/** Sends a request as bytes and returns everything received until the server closes the connection. */
async function exchange(head: string[]): Promise<string> {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await once(socket, 'close')
  return received
}
const line = (method: string, version = '1.1') => `${method} /v1/resolve?env=${envId} HTTP/${version}`
const known = [`authorization: ${as}`, 'connection: close']

test('an answer from memory equals the answer from the database, except for its request id', async () => {
  const again = await ask()
  expect(again.body).toEqual(first.body)
  const [one, other] = [first, again].map(({ headers }) => Object.fromEntries(headers))
  const { date: _, 'x-request-id': oneId, ratelimit: oneLeft, ...oneHeaders } = one ?? {}
  const { date: __, 'x-request-id': otherId, ratelimit: otherLeft, ...otherHeaders } = other ?? {}
  expect(otherHeaders).toEqual(oneHeaders)
  expect([oneId, otherId]).toEqual([expect.stringMatching(/^req_/), expect.stringMatching(/^req_/)])
  expect(otherId).not.toBe(oneId)
  expect(oneHeaders['ratelimit-policy']).toBe('"principal";q=5000;w=25')
  for (const left of [oneLeft, otherLeft]) expect(left).toMatch(/^"principal";r=49\d\d;t=1$/)
})

test.each([24, 20_000, 600_000])(
  'an answer with %i bytes of ciphertext is complete, from the database and from memory',
  async (bytes) => {
    const { id } = await newEnv(world, tenant, appId, `holds-${bytes}`)
    const text = ciphertext(bytes)
    await putSecret(world, tenant, id, 'NAME', text)
    const url = `${world.url}/v1/resolve?env=${id}`
    for (const _ of ['the database', 'memory']) {
      const { status, headers, body } = await world.call(resolve.get, { as, query: { env: id } })
      expect(status).toBe(200)
      expect(body.layers[0]?.secrets).toEqual([{ name: 'NAME', ciphertext: text }])
      const sent = JSON.stringify(body)
      const etag = `"${sha256(sent)}"`
      expect([headers.get('content-length'), headers.get('etag')]).toEqual([String(sent.length), etag])
      const unchanged = await fetch(url, { headers: { authorization: as, 'if-none-match': etag } })
      expect([unchanged.status, await unchanged.text()]).toEqual([304, ''])
    }
  },
)

test('Fastify serves the first request, memory serves the later ones, and the log has an entry for each', async () => {
  const logged = ({ headers }: Awaited<ReturnType<typeof ask>>) =>
    world.log.map((text) => JSON.parse(text)).filter(({ requestId }) => requestId === headers.get('x-request-id'))
  const facts = { time: expect.any(String), level: 'debug', message: 'request', requestId: expect.any(String) }
  const request = { ...facts, method: 'GET', route: '/v1/resolve', status: 200 }
  // Only Fastify's hook measures the time.
  expect(logged(first)).toEqual([{ ...request, ms: expect.any(Number) }])
  // On PostgreSQL the cache does not answer until it has read the changes of other servers.
  await expect.poll(async () => logged(await ask())).toEqual([request])
})

test('HEAD, HTTP/1.0 and a request without a Host header get the same answers as on other paths', async () => {
  const host = 'host: skerry'
  const [head, body] = (await exchange([line('HEAD'), host, ...known])).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 200 /)
  expect(head).toContain(`content-length: ${first.headers.get('content-length')}`)
  expect(body).toBe('')
  expect(await exchange([line('GET', '1.0'), ...known])).toMatch(/^HTTP\/1\.1 200 .*"name":"NAME"/s)
  expect(await exchange([line('GET'), ...known])).toMatch(/^HTTP\/1\.1 400 .*Host: is required/s)
})

test('a caller that sends too many requests is refused by the limit of its principal', async () => {
  const { limiter } = world.server.context
  while (limiter.admits('principal', tenant.admin.id, {}));
  const { status, error, headers } = await ask()
  const refused = [status, error?.code, headers.get('retry-after'), headers.get('ratelimit')]
  expect(refused).toEqual([429, 'rate_limited', '1', '"principal";r=0;t=25'])
})
