import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { failure, get, loopback, names, now, opened, outboundTargets } from '../../test/outbound-targets.ts'
import type { Address } from './guard.ts'
import { openOutbound } from './outbound.ts'

const { http, https, closeAll } = outboundTargets()

describe('a request', () => {
  test('arrives unchanged, and its complete answer is returned', async () => {
    const bodies: string[] = []
    const target = await http(async (request, response) => {
      for await (const chunk of request) bodies.push(String(chunk))
      response.writeHead(418, { 'x-one': ['a', 'b'], 'X-Two': 'c' }).end('body')
    })
    const url = `http://127.0.0.1:${target.port}/a/b?c=d`
    const answer = await opened(loopback).send({ method: 'POST', url, headers: { 'X-Given': 'yes' }, body: 'sent' })
    expect(answer).toMatchObject({ status: 418, headers: { 'x-one': 'a, b', 'x-two': 'c' } })
    expect(Buffer.from(answer.body).toString()).toBe('body')
    expect(bodies).toEqual(['sent'])
    expect(target.requests[0]).toMatchObject({ method: 'POST', url: '/a/b?c=d', headers: { 'x-given': 'yes' } })
  })

  test('cannot override the host, length or encoding of the connection', async () => {
    const target = await http()
    const headers = {
      Host: 'other.test',
      'Content-Length': '3',
      'Transfer-Encoding': 'chunked',
      'Accept-Encoding': 'gzip',
    }
    await opened(loopback).send({
      method: 'PUT',
      url: `http://127.0.0.1:${target.port}/`,
      headers,
      body: 'a longer one',
    })
    const got = target.requests[0]?.headers
    expect(got).toMatchObject({
      host: `127.0.0.1:${target.port}`,
      'content-length': '12',
      'accept-encoding': 'identity',
    })
    expect(got).not.toHaveProperty('transfer-encoding')
  })

  test('follows no redirect', async () => {
    const other = await http()
    const target = await http((_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${other.port}/` }).end(),
    )
    const answer = await opened(loopback).send(get(`http://127.0.0.1:${target.port}/`))
    expect([answer.status, answer.headers.location]).toEqual([302, `http://127.0.0.1:${other.port}/`])
    expect(other.connections).toBe(0)
  })

  test('uses no proxy from the environment, although Node would', async () => {
    const [proxy, target] = [await http(), await http()]
    const script = `
      import { request } from 'node:http'
      import { openOutbound } from ${JSON.stringify(new URL('outbound.ts', import.meta.url).href)}
      const url = 'http://127.0.0.1:${target.port}/'
      const outbound = openOutbound({ privateTargets: ['127.0.0.1'], providerOrigins: {} }, { now: () => new Date() })
      await outbound.send({ method: 'GET', url })
      await new Promise((done) => request(url, (response) => response.resume().on('end', done)).end())`
    const address = `http://127.0.0.1:${proxy.port}`
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, HTTPS_PROXY: address, ALL_PROXY: address }
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env })
    expect([proxy.connections, target.connections]).toEqual([1, 1])
  })
})

describe('kept connections', () => {
  test('are reused, and use the checked address', async () => {
    const target = await https()
    const { asked, resolve } = names({ 'target.test': ['127.0.0.1', '10.0.0.1'] })
    using door = opened(loopback, { resolve }).keepConnections()
    for (let i = 0; i < 3; i++) {
      const { status, body } = await door.send(get(`https://target.test:${target.port}/`))
      expect([status, Buffer.from(body).toString()]).toEqual([200, 'hello'])
    }
    expect([asked, target.requests.length]).toEqual([['target.test'], 3])
    expect(new Set(target.requests.map(({ socket }) => socket)).size).toBe(1)
  })

  test('refuse an address that is not allowed, a certificate for another name, and plain HTTP', async () => {
    const target = await https()
    const { resolve } = names({ 'inner.test': ['10.0.0.1'], 'other.test': ['127.0.0.1'] })
    using door = opened(loopback, { resolve }).keepConnections()
    const reasons = []
    for (const url of ['https://inner.test', 'https://other.test', 'http://127.0.0.1'])
      reasons.push((await failure(door.send(get(`${url}:${target.port}/`)))).reason)
    expect([reasons, target.requests]).toEqual([['refused_address', 'tls', 'unsendable'], []])
  })

  test('that the other side has just closed are replaced', async () => {
    const known = new Set<unknown>()
    const target = await https((request, response) => {
      if (known.has(request.socket)) request.socket.destroy()
      else response.end('hello')
      known.add(request.socket)
    })
    using door = opened(loopback).keepConnections()
    const url = `https://127.0.0.1:${target.port}/`
    for (let i = 0; i < 2; i++) expect((await door.send(get(url))).status).toBe(200)
    expect(known.size).toBe(2)
  })

  test('are not reused after an incomplete answer, and close when they are disposed', async () => {
    const target = await https((_, response) => response.end('x'.repeat(100)))
    const door = opened(loopback).keepConnections()
    const url = `https://127.0.0.1:${target.port}/`
    expect((await failure(door.send(get(url, { bytesMax: 99 })))).reason).toBe('too_large')
    await door.send(get(url))
    const [first, second] = target.requests.map(({ socket }) => socket) as [Socket, Socket]
    expect(second).not.toBe(first)
    const closed = second.destroyed || once(second, 'close')
    door[Symbol.dispose]()
    await closed
    expect(second.destroyed).toBe(true)
  })
})

describe('limits', () => {
  const timeoutMs = 200

  test('on time cover the name look-up, the connection and a slow answer', async () => {
    const silent = await http(() => {})
    const dripping = await http((_, response) => {
      response.write('a')
      const timer = setInterval(() => response.write('a'), 20)
      response.on('close', () => clearInterval(timer))
    })
    for (const { port } of [silent, dripping]) {
      const error = await failure(opened(loopback).send(get(`http://127.0.0.1:${port}/`, { timeoutMs })))
      expect(error).toMatchObject({ reason: 'timeout', message: `127.0.0.1:${port}: it did not answer in time` })
    }
    const resolve = () => new Promise<Address[]>(() => {})
    expect((await failure(opened([], { resolve }).send(get('https://slow.test/', { timeoutMs })))).reason).toBe(
      'timeout',
    )
    const connecting = opened([], { resolve }).connect({ host: 'slow.test', port: 1, timeoutMs })
    expect((await failure(connecting)).reason).toBe('timeout')
  })

  test('on size stop the read', async () => {
    const target = await http((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    })
    const error = await failure(opened(loopback).send(get(`http://127.0.0.1:${target.port}/`, { bytesMax: 100_000 })))
    expect(error).toMatchObject({ reason: 'too_large' })
    const fits = await http((_, response) => response.end('x'.repeat(100)))
    const url = `http://127.0.0.1:${fits.port}/`
    expect((await opened(loopback).send(get(url, { bytesMax: 100 }))).body).toHaveLength(100)
    expect((await failure(opened(loopback).send(get(url, { bytesMax: 99 })))).reason).toBe('too_large')
  })

  test('cannot be bypassed by compression, because a compressed answer is refused', async () => {
    const packed = gzipSync(Buffer.alloc(10_000_000))
    const target = await http((_, response) => response.writeHead(200, { 'content-encoding': 'GZip' }).end(packed))
    const url = `http://127.0.0.1:${target.port}/`
    expect((await failure(opened(loopback).send(get(url)))).reason).toBe('unreadable')
    expect((await opened(loopback).send({ method: 'HEAD', url })).status).toBe(200)
  })

  test('include the signal of the caller, which aborts the call before it and during it', async () => {
    const silent = await http(() => controller.abort())
    const controller = new AbortController()
    const request = get(`http://127.0.0.1:${silent.port}/`, { signal: controller.signal })
    expect((await failure(opened(loopback).send(request))).reason).toBe('aborted')
    expect((await failure(opened(loopback).send(request))).reason).toBe('aborted')
  })
})

describe('a failed request', () => {
  test('is reported with host and port, and without any content of the request or the answer', async () => {
    const secret = 'hunter2'
    const answers: [string, RequestListener][] = [
      ['unreadable', (request) => request.socket.end(`${secret}\r\n\r\n`)],
      ['unreachable', (request) => request.socket.destroy()],
      [
        'unreachable',
        (_, response) => response.writeHead(200, { 'content-length': '100' }).write(secret, () => response.destroy()),
      ],
      ['too_large', (_, response) => response.end(secret.repeat(100))],
    ]
    for (const [reason, answer] of answers) {
      const target = await http(answer)
      const url = `http://127.0.0.1:${target.port}/${secret}?${secret}`
      const request = { method: 'POST', url, headers: { 'x-key': secret }, body: secret, bytesMax: 50 } as const
      const error = await failure(opened(loopback).send(request))
      expect([reason, error.reason]).toEqual([reason, reason])
      expect(error.message).toMatch(new RegExp(`^127\\.0\\.0\\.1:${target.port}: `))
      expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(secret)
    }
    const header = await failure(
      opened(loopback).send(get('http://127.0.0.1:1/', { headers: { 'x-key': `${secret}\n` } })),
    )
    expect([header.reason, header.message.includes(secret)]).toEqual(['unsendable', false])
  })

  test('to a port without a listener is reported as unreachable, like a connection to it', async () => {
    const { port } = await http()
    await closeAll()
    const errors = [
      await failure(opened(loopback).send(get(`http://127.0.0.1:${port}/`))),
      await failure(opened(loopback).connect({ host: '127.0.0.1', port, timeoutMs: 5000 })),
    ]
    for (const error of errors)
      expect(error).toMatchObject({ reason: 'unreachable', message: `127.0.0.1:${port}: the connection was refused` })
  })
})

describe('the other functions for adapters', () => {
  test('return the clock of the server and the origins of the operator', () => {
    const outbound = openOutbound({ privateTargets: [], providerOrigins: { 'cloud-a': 'https://sts.inner' } }, { now })
    expect(outbound.now()).toEqual(now())
    expect(outbound.origin('cloud-a', 'https://sts.example')).toBe('https://sts.inner')
    expect(outbound.origin('cloud-b', 'https://iam.example')).toBe('https://iam.example')
    expect(outbound.httpsOnly.origin('toString', 'https://own.example')).toBe('https://own.example')
  })
})
