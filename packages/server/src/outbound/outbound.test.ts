import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { OutsideError, type OutsideRequest } from '@skerry/providers/outside'
import { afterEach, describe, expect, test } from 'vitest'
import { type Address, systemResolve } from './guard.ts'
import { openOutbound } from './outbound.ts'

const pem = (name: string) => readFileSync(new URL(`../../test/tls/${name}`, import.meta.url), 'utf8')
const ca = pem('ca.pem')

const open: { close(): unknown }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

interface Listening {
  port: number
  /** How many connections it took. */
  connections: number
  requests: IncomingMessage[]
}

async function listen(server: Server, host: string, port: number): Promise<Listening> {
  const listening: Listening = { port: 0, connections: 0, requests: [] }
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => {
    listening.connections++
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.on('request', (request) => listening.requests.push(request))
  await new Promise<void>((done, failed) => server.on('error', failed).listen(port, host, done))
  listening.port = (server.address() as AddressInfo).port
  const close = () =>
    new Promise((done) => {
      server.close(done)
      for (const socket of sockets) socket.destroy()
    })
  open.push({ close })
  return listening
}

const hello: RequestListener = (_, response) => response.end('hello')
const http = (answer = hello, host = '127.0.0.1', port = 0) => listen(createServer(answer), host, port)
const https = (answer = hello) =>
  listen(createTlsServer({ key: pem('target.key'), cert: pem('target.pem') }, answer), '127.0.0.1', 0)

/** Names lead where a test says, one answer after the other, the last one for ever. */
function names(table: Record<string, string[]>) {
  const asked: string[] = []
  const resolve = async (host: string): Promise<Address[]> => {
    const answers = table[host] ?? []
    const address = answers.length > 1 ? answers.shift() : answers[0]
    asked.push(host)
    return address === undefined ? [] : [{ address, family: address.includes(':') ? 6 : 4 }]
  }
  return { asked, resolve }
}

const now = () => new Date('2026-01-01T00:00:00Z')
const loopback = ['127.0.0.0/8', '::1']
const opened = (privateTargets: string[], more: Partial<Parameters<typeof openOutbound>[1]> = {}) =>
  openOutbound({ privateTargets, providerOrigins: {} }, { now, ca, ...more })
const get = (url: string, more: Partial<OutsideRequest> = {}): OutsideRequest => ({ method: 'GET', url, ...more })

async function failure(promise: Promise<unknown>): Promise<OutsideError> {
  const error = await promise.then(
    (value) => new Error(`was answered: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(OutsideError)
  return error as OutsideError
}

describe('an address that the operator has not allowed', () => {
  const spellings = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.01',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
    'localhost',
    'localhost.',
    'LOCALHOST',
    '%6cocalhost',
    '①②⑦.0.0.1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
  ]

  test.each(spellings)('is refused however it is written: %s', async (host) => {
    const target = await http()
    const outbound = opened([])
    for (const scheme of ['http', 'https']) {
      const error = await failure(outbound.send(get(`${scheme}://${host}:${target.port}/`)))
      expect(error.reason).toBe('refused_address')
      expect(error.message).toContain('SKERRY_ALLOW_PRIVATE_TARGETS')
    }
    const bare = host.replace(/^\[|\]$/g, '')
    expect((await failure(outbound.connect({ host: bare, port: target.port, timeoutMs: 5000 }))).reason).toBe(
      'refused_address',
    )
    expect(target.connections).toBe(0)
  })

  test('is refused when a name leads there, without telling the name’s user where', async () => {
    for (const address of ['10.20.30.40', '169.254.169.254', 'fd00::7', '::ffff:10.0.0.1', '100.64.0.1']) {
      const { resolve } = names({ 'db.test': [address] })
      const error = await failure(opened([], { resolve }).send(get('https://db.test/')))
      expect(error.reason).toBe('refused_address')
      expect(error.message).not.toContain(address)
    }
  })

  test('is refused where another network is allowed', async () => {
    const { resolve } = names({ 'db.test': ['192.168.1.1'] })
    const error = await failure(
      opened(['192.168.2.0/24'], { resolve }).connect({ host: 'db.test', port: 5432, timeoutMs: 5000 }),
    )
    expect(error).toMatchObject({
      reason: 'refused_address',
      message:
        'db.test:5432: the address is private; the operator can allow its network with SKERRY_ALLOW_PRIVATE_TARGETS',
    })
  })

  test('is passed over where a name has an allowed one too', async () => {
    const target = await http()
    const resolve = async () => ['10.0.0.1', '127.0.0.1'].map((address) => ({ address, family: 4 }))
    expect((await opened(loopback, { resolve }).send(get(`http://two.test:${target.port}/`))).status).toBe(200)
  })
})

describe('a name', () => {
  test('is asked for once, and the connection goes where the answer that was checked says', async () => {
    const checked = await http((_, response) => response.end('checked'), '127.0.0.2')
    const other = await http((_, response) => response.end('other'), '127.0.0.1', checked.port)
    const { asked, resolve } = names({ 'rebound.test': ['127.0.0.2', '127.0.0.1'] })
    const answer = await opened(['127.0.0.2'], { resolve }).send(get(`http://rebound.test:${checked.port}/`))
    expect(Buffer.from(answer.body).toString()).toBe('checked')
    expect(asked).toEqual(['rebound.test'])
    expect(other.connections).toBe(0)
    expect(checked.requests[0]?.headers.host).toBe(`rebound.test:${checked.port}`)
  })

  test('is asked for once for a driver’s connection too', async () => {
    const checked = await listen(
      createTcpServer((socket) => socket.end('hello')),
      '127.0.0.2',
      0,
    )
    const other = await listen(
      createTcpServer((socket) => socket.end('other')),
      '127.0.0.1',
      checked.port,
    )
    const { asked, resolve } = names({ 'rebound.test': ['127.0.0.2', '127.0.0.1'] })
    const socket = await opened(['127.0.0.2'], { resolve }).connect({
      host: 'rebound.test',
      port: checked.port,
      timeoutMs: 5000,
    })
    expect(socket.remoteAddress).toBe('127.0.0.2')
    for await (const chunk of socket) expect(String(chunk)).toBe('hello')
    expect([asked, other.connections]).toEqual([['rebound.test'], 0])
  })

  test('without an address is said to be unreachable', async () => {
    const { resolve } = names({})
    const error = await failure(opened([], { resolve }).send(get('https://nowhere.test/')))
    expect(error).toMatchObject({ reason: 'unreachable', message: 'nowhere.test:443: the name has no address' })
  })

  test('is resolved as the machine does it where nothing else is said', async () => {
    const addresses = (await systemResolve('localhost')).map(({ address }) => address)
    expect(addresses.every((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true)
    expect(addresses).not.toEqual([])
  })
})

describe('plain HTTP', () => {
  test('goes to networks that are listed, and to no other', async () => {
    const target = await http()
    expect((await opened(loopback).send(get(`http://127.0.0.1:${target.port}/`))).status).toBe(200)
    const { resolve } = names({ 'public.test': ['8.8.8.8'] })
    const error = await failure(opened(loopback, { resolve }).send(get('http://public.test/')))
    expect(error).toMatchObject({
      reason: 'refused_address',
      message: 'public.test:80: plain HTTP is for networks that SKERRY_ALLOW_PRIVATE_TARGETS lists; use https',
    })
  })

  test('never goes through the door of webhooks', async () => {
    const target = await http()
    const error = await failure(opened(loopback).httpsOnly.send(get(`http://127.0.0.1:${target.port}/`)))
    expect(error.reason).toBe('unsendable')
    expect(target.connections).toBe(0)
  })

  test.each([
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'unix:/run/x',
    'data:text/plain,x',
    'not a url',
    'https://u:p@127.0.0.1/',
  ])('nothing else is spoken: %s', async (url) => {
    const error = await failure(opened(loopback).send(get(url)))
    expect(error.reason).toBe('unsendable')
  })

  test.each(['', ' ', 'a/b', 'user@host', 'host:80', 'a b', '[::1]', '.'])(
    'a host that is none is refused: "%s"',
    async (host) => {
      expect((await failure(opened(loopback).connect({ host, port: 1, timeoutMs: 5000 }))).reason).toBe('unsendable')
    },
  )
})

describe('TLS', () => {
  const { resolve } = names({ 'target.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] })

  test('is verified by the name that was asked for, a trailing dot or not, or by the address', async () => {
    const target = await https()
    for (const host of ['target.test', 'target.test.', 'TARGET.test', '127.0.0.1']) {
      const answer = await opened(loopback, { resolve }).httpsOnly.send(get(`https://${host}:${target.port}/`))
      expect(answer.status).toBe(200)
    }
  })

  test('with another name, with an authority that is not known, or with none is refused', async () => {
    const target = await https()
    const reasons = async (host: string, more = {}) => {
      const { reason, message } = await failure(
        opened(loopback, { resolve, ...more }).send(get(`https://${host}:${target.port}/`)),
      )
      return [reason, message.replace(/^[^ ]+ /, '')]
    }
    expect(await reasons('other.test')).toEqual(['tls', 'its certificate is for another name'])
    expect(await reasons('target.test', { ca: undefined })).toEqual(['tls', 'its certificate is not trusted'])
    expect(target.requests).toEqual([])
    const plain = await http()
    expect((await failure(opened(loopback, { resolve }).send(get(`https://target.test:${plain.port}/`)))).reason).toBe(
      'tls',
    )
  })
})

describe('a request', () => {
  test('arrives as it was given, and its answer comes back whole', async () => {
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

  test('cannot name another host, length or encoding than the connection has', async () => {
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

  test('is not sent on to where an answer points', async () => {
    const other = await http()
    const target = await http((_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${other.port}/` }).end(),
    )
    const answer = await opened(loopback).send(get(`http://127.0.0.1:${target.port}/`))
    expect([answer.status, answer.headers.location]).toEqual([302, `http://127.0.0.1:${other.port}/`])
    expect(other.connections).toBe(0)
  })

  test('takes no proxy from the environment, where Node itself would', async () => {
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

describe('limits', () => {
  const timeoutMs = 200

  test('of time are for the whole: a name, a connection, an answer, and one that drips', async () => {
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

  test('of size end the reading', async () => {
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

  test('cannot be got round by packing: a packed answer is not read', async () => {
    const packed = gzipSync(Buffer.alloc(10_000_000))
    const target = await http((_, response) => response.writeHead(200, { 'content-encoding': 'GZip' }).end(packed))
    const url = `http://127.0.0.1:${target.port}/`
    expect((await failure(opened(loopback).send(get(url)))).reason).toBe('unreadable')
    expect((await opened(loopback).send({ method: 'HEAD', url })).status).toBe(200)
  })

  test('a caller that gives up is told so, before and during the call', async () => {
    const silent = await http(() => controller.abort())
    const controller = new AbortController()
    const request = get(`http://127.0.0.1:${silent.port}/`, { signal: controller.signal })
    expect((await failure(opened(loopback).send(request))).reason).toBe('aborted')
    expect((await failure(opened(loopback).send(request))).reason).toBe('aborted')
  })
})

describe('what goes wrong', () => {
  test('is said with host and port, and with nothing of the request or the answer', async () => {
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

  test('a port where nobody listens is unreachable, for requests and for connections', async () => {
    const { port } = await http()
    await Promise.all(open.splice(0).map((one) => one.close()))
    const errors = [
      await failure(opened(loopback).send(get(`http://127.0.0.1:${port}/`))),
      await failure(opened(loopback).connect({ host: '127.0.0.1', port, timeoutMs: 5000 })),
    ]
    for (const error of errors)
      expect(error).toMatchObject({ reason: 'unreachable', message: `127.0.0.1:${port}: the connection was refused` })
  })
})

describe('what else adapters ask', () => {
  test('the clock is the server’s, and origins are the operator’s', () => {
    const outbound = openOutbound({ privateTargets: [], providerOrigins: { 'cloud-a': 'https://sts.inner' } }, { now })
    expect(outbound.now()).toEqual(now())
    expect(outbound.origin('cloud-a', 'https://sts.example')).toBe('https://sts.inner')
    expect(outbound.origin('cloud-b', 'https://iam.example')).toBe('https://iam.example')
    expect(outbound.httpsOnly.origin('toString', 'https://own.example')).toBe('https://own.example')
  })
})
