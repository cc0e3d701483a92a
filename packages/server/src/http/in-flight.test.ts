import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext } from '../../test/blobs.ts'
import { isQuick } from '../../test/extent.ts'
import { openEnv } from '../../test/scene.ts'
import { grantKey, newToken } from '../../test/tenant.ts'
import { openInFlight } from './in-flight.ts'
import { PrebuiltResponse } from './prebuilt-response.ts'

const responseTo = () => new ServerResponse(new IncomingMessage(new Socket()))
const kilobytes = (count: number) => new PrebuiltResponse(200, [], Buffer.alloc(count * 1024))

describe('a buffer for a megabyte of answers', () => {
  /** Admits an answer that its client does not read -> a function that ends it, or undefined if the buffer was full. */
  const asking = () => {
    const inFlight = openInFlight(1024 * 1024)
    return (caller: string, answer: PrebuiltResponse) => {
      const response = responseTo()
      return inFlight.admits(response, caller, answer) ? () => response.emit('close') : undefined
    }
  }

  test('gives a caller a quarter, whatever the size of the first answer', () => {
    const ask = asking()
    const taken = ask('one', kilobytes(300))
    expect(taken).toBeDefined()
    expect(ask('one', kilobytes(20))).toBeUndefined()
    expect(ask('another', kilobytes(200))).toBeDefined()
    expect(ask('another', kilobytes(50))).toBeDefined()
    expect(ask('another', kilobytes(50))).toBeUndefined()
    taken?.()
    expect(ask('one', kilobytes(20))).toBeDefined()
  })

  test('can be filled by many callers, and has space again once an answer is read', () => {
    const ask = asking()
    const all = Array.from({ length: 40 }, (_, n) => ask(`caller-${n}`, kilobytes(100)))
    const admitted = all.filter((taken) => taken !== undefined)
    expect(admitted).toHaveLength(10)
    expect(ask('late', kilobytes(100))).toBeUndefined()
    admitted[0]?.()
    expect(ask('late', kilobytes(100))).toBeDefined()
  })

  test('counts an answer that is sent to many clients once, until the last client has read it', () => {
    const ask = asking()
    const shared = kilobytes(250)
    const [first, ...others] = Array.from({ length: 1000 }, () => ask('one', shared))
    expect(others.every((taken) => taken !== undefined)).toBe(true)
    first?.()
    expect(ask('one', kilobytes(100))).toBeUndefined()
    for (const taken of others) taken?.()
    expect(ask('one', kilobytes(100))).toBeDefined()
  })

  test('always admits a small answer, and admits the largest one when no other is being sent', () => {
    const ask = asking()
    expect(ask('one', kilobytes(5000))).toBeDefined()
    expect(ask('another', kilobytes(20))).toBeUndefined()
    for (let n = 0; n < 100; n++) expect(ask('another', kilobytes(16))).toBeDefined()
  })

  test('frees the space of a client that reads longer than the time limit', async () => {
    const inFlight = openInFlight(1024 * 1024, 1)
    const response = responseTo()
    expect(inFlight.admits(response, 'slow', kilobytes(1024))).toBe(true)
    await once(response, 'close')
    expect(inFlight.admits(responseTo(), 'next', kilobytes(1024))).toBe(true)
  })
})

test.skipIf(isQuick)(
  'clients that read nothing cannot fill the memory, because more large answers are refused until they are gone',
  async () => {
    const settings = { SKERRY_RESOLVE_IN_FLIGHT_MB: '32', SKERRY_RESOLVE_CACHE_MB: '0' }
    const { world, tenant, envId } = await openEnv(settings)
    const params = { orgId: tenant.orgId, envId }
    // More than the socket buffers of this machine can store while nobody reads.
    const text = ciphertext(740_000)
    for (let n = 0; n < 15; n++) {
      const put = { as: tenant.admin.as, params: { ...params, name: `NAME_${n}` }, body: { ciphertext: text } }
      expect((await world.call(secrets.put, put)).status).toBe(201)
    }
    const readers = await Promise.all([1, 2].map(() => newToken(world, tenant)))
    for (const reader of readers) await grantKey(world, tenant, envId, reader)
    const [one, other] = readers.map(({ as }) => as) as [string, string]
    const { hostname, port } = new URL(world.url)
    const opened: Socket[] = []
    const open = (as: string) => {
      const socket = connect(Number(port), hostname)
      socket.write(`GET /v1/resolve?env=${envId} HTTP/1.1\r\nhost: skerry\r\nauthorization: ${as}\r\n\r\n`)
      opened.push(socket)
      return once(socket, 'readable')
    }
    const ask = async (as: string) => {
      const answer = await fetch(`${world.url}/v1/resolve?env=${envId}`, { headers: { authorization: as } })
      return [answer.status, answer.headers.get('retry-after'), (await answer.text()).slice(0, 80)]
    }
    const refused = [429, '2', expect.stringContaining('too many large answers are under way')]
    await open(one)
    expect(await ask(one)).toEqual(refused)
    await open(other)
    expect(await ask(tenant.admin.as)).toEqual(refused)
    for (const socket of opened) socket.destroy()
    await expect.poll(async () => (await ask(one))[0]).toBe(200)
  },
)
