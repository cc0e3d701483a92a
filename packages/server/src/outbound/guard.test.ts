import { createServer as createTcpServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { failure, get, loopback, names, opened, outboundTargets } from '../../test/outbound-targets.ts'
import { freePort } from '../../test/services/free-port.ts'
import { systemResolve } from './guard.ts'

const { listen, http, https } = outboundTargets()

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

  test.each(spellings)('is refused in every spelling: %s', async (host) => {
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

  test('is refused when a name resolves to it, and the error does not show the address', async () => {
    for (const address of ['10.20.30.40', '169.254.169.254', 'fd00::7', '::ffff:10.0.0.1', '100.64.0.1']) {
      const { resolve } = names({ 'db.test': [address] })
      const error = await failure(opened([], { resolve }).send(get('https://db.test/')))
      expect(error.reason).toBe('refused_address')
      expect(error.message).not.toContain(address)
    }
  })

  test('is refused even if another network is allowed', async () => {
    const { resolve } = names({ 'db.test': ['192.168.1.1'] })
    const error = await failure(
      opened(['192.168.2.0/24'], { resolve }).connect({ host: 'db.test', port: 5432, timeoutMs: 5000 }),
    )
    expect(error).toMatchObject({
      reason: 'refused_address',
      message:
        'db.test:5432: the address is private; the operator can allow its network with SKERRY_ALLOW_PRIVATE_TARGETS, for example 10.20.0.0/16',
    })
  })

  test('is skipped if the name also has an allowed address', async () => {
    const target = await http()
    const resolve = async () => ['10.0.0.1', '127.0.0.1'].map((address) => ({ address, family: 4 }))
    expect((await opened(loopback, { resolve }).send(get(`http://two.test:${target.port}/`))).status).toBe(200)
  })
})

describe('a name', () => {
  test('is resolved once, and the connection uses the checked address', async () => {
    const port = await freePort()
    const checked = await http((_, response) => response.end('checked'), '127.0.0.2', port)
    const other = await http((_, response) => response.end('other'), '127.0.0.1', port)
    const { asked, resolve } = names({ 'rebound.test': ['127.0.0.2', '127.0.0.1'] })
    const answer = await opened(['127.0.0.2'], { resolve }).send(get(`http://rebound.test:${checked.port}/`))
    expect(Buffer.from(answer.body).toString()).toBe('checked')
    expect(asked).toEqual(['rebound.test'])
    expect(other.connections).toBe(0)
    expect(checked.requests[0]?.headers.host).toBe(`rebound.test:${checked.port}`)
  })

  test('is resolved once for the connection of a driver, too', async () => {
    const checked = await listen(
      createTcpServer((socket) => socket.end('hello')),
      '127.0.0.2',
      await freePort(),
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

  test('without an address is reported as unreachable', async () => {
    const { resolve } = names({})
    const error = await failure(opened([], { resolve }).send(get('https://nowhere.test/')))
    expect(error).toMatchObject({ reason: 'unreachable', message: 'nowhere.test:443: the name has no address' })
  })

  test('is resolved by the system by default', async () => {
    const addresses = (await systemResolve('localhost')).map(({ address }) => address)
    expect(addresses.every((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true)
    expect(addresses).not.toEqual([])
  })
})

describe('plain HTTP', () => {
  test('can reach only the listed networks', async () => {
    const target = await http()
    expect((await opened(loopback).send(get(`http://127.0.0.1:${target.port}/`))).status).toBe(200)
    const { resolve } = names({ 'public.test': ['8.8.8.8'] })
    const error = await failure(opened(loopback, { resolve }).send(get('http://public.test/')))
    expect(error).toMatchObject({
      reason: 'refused_address',
      message: 'public.test:80: plain HTTP is for networks that SKERRY_ALLOW_PRIVATE_TARGETS lists; use https',
    })
  })

  test('is refused for webhooks', async () => {
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
  ])('and https are the only protocols; this URL is refused: %s', async (url) => {
    const error = await failure(opened(loopback).send(get(url)))
    expect(error.reason).toBe('unsendable')
  })

  test.each(['', ' ', 'a/b', 'user@host', 'host:80', 'a b', '[::1]', '.'])(
    'an invalid host is refused: "%s"',
    async (host) => {
      expect((await failure(opened(loopback).connect({ host, port: 1, timeoutMs: 5000 }))).reason).toBe('unsendable')
    },
  )
})

describe('TLS', () => {
  const { resolve } = names({ 'target.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] })

  test('verifies the requested name, with or without a trailing dot, or the address', async () => {
    const target = await https()
    for (const host of ['target.test', 'target.test.', 'TARGET.test', '127.0.0.1']) {
      const answer = await opened(loopback, { resolve }).httpsOnly.send(get(`https://${host}:${target.port}/`))
      expect(answer.status).toBe(200)
    }
  })

  test('refuses another name, an unknown authority, and a server without TLS', async () => {
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
