import { once } from 'node:events'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { curl } from '../test/curl.ts'
import { forward, lookUpHere, raw, scratch, startUpstream, startWorld } from '../test/world.ts'
import { openAuthority } from './authority.ts'

const key = 'sk-live-0123456789'
const name = 'api.example.test'
const ruled = `[[forward.host]]\nmatch = "${name}"\nallow = ["API_KEY"]\n`

async function intercepted(more = '', hosts = ruled) {
  const upstream = await startUpstream(undefined, { host: name })
  const deps = { upstreamCa: upstream.ca, lookUp: lookUpHere }
  const world = await startWorld(forward(hosts, more), { API_KEY: key }, deps)
  return { ...world, upstream }
}

describe('inside CONNECT,', () => {
  test('the upstream gets the secret, over TLS that the client has checked', async () => {
    const { upstream, ...world } = await intercepted()
    const done = await curl(
      world,
      `${upstream.origin}/v1?q=1`,
      '-H',
      'Authorization: Bearer {{skerry:API_KEY}}',
      '-d',
      'k={{seekrit:API_KEY}}',
    )
    expect(done.stderr).toBe('')
    expect(upstream.got[0]).toMatchObject({
      method: 'POST',
      url: '/v1?q=1',
      headers: { authorization: `Bearer ${key}`, host: `${name}:${upstream.port}` },
      body: `k=${key}`,
    })
  })

  test('plain HTTP is accepted too', async () => {
    const upstream = await startUpstream()
    const world = await startWorld(forward('[[forward.host]]\nmatch = "127.0.0.1"\nallow = ["API_KEY"]'), {
      API_KEY: key,
    })
    const asked = [`http://127.0.0.1:${upstream.port}/x`, '-H', 'A: {{skerry:API_KEY}}']
    await curl(world, '--proxytunnel', ...asked)
    await curl(world, ...asked)
    expect(upstream.got.map(({ url, headers }) => [url, headers.a])).toEqual([
      ['/x', key],
      ['/x', key],
    ])
  })

  test('the client gets a refusal as an answer of the host, and nothing is sent', async () => {
    const { upstream, ...world } = await intercepted()
    const done = await curl(world, '-i', upstream.origin, '-H', 'A: {{skerry:OTHER}}')
    expect(done.stdout).toMatch(/^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 403 /)
    expect(done.stdout).toContain('x-seekrit-refusal: denied')
    expect(upstream.got).toEqual([])
  })

  test('a body that is too large is refused with 413', async () => {
    const upstream = await startUpstream()
    const toml = `max_request_body_bytes = 4\n${forward('[[forward.host]]\nmatch = "127.0.0.1"\nallow = ["API_KEY"]')}`
    const world = await startWorld(toml)
    const done = await curl(
      world,
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      '-d',
      '12345',
      `http://127.0.0.1:${upstream.port}/`,
    )
    expect([done.stdout, upstream.got]).toEqual(['413', []])
  })

  test.each([
    ['another Host', 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n'],
    ['another port in Host', 'GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n'],
    ['an absolute target', 'GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n'],
    ['a second CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n'],
  ])('%s is refused', async (_, request) => {
    const upstream = await startUpstream()
    const world = await startWorld(forward('[[forward.host]]\nmatch = "127.0.0.1"'))
    const opening = `CONNECT 127.0.0.1:${upstream.port} HTTP/1.1\r\nHost: 127.0.0.1:${upstream.port}\r\n\r\n`
    const answer = await raw(world.forward!, [opening, request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')])
    expect(answer.replace(/^HTTP\/1\.1 200 Connection Established\r\n\r\n/, '')).toMatch(/^(HTTP\/1\.1 400 |$)/)
    expect(upstream.got).toEqual([])
  })
})

describe('a request to the proxy itself', () => {
  test.each([
    'GET / HTTP/1.1\r\nHost: a',
    'GET https://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1',
    'GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1',
    'GET http://user@127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1',
    'GET http://127.0.0.1/ HTTP/1.1\r\nHost: evil.example',
    'GET http://127.0.0.1#@evil.example/ HTTP/1.1\r\nHost: 127.0.0.1',
    'GET http://127.0.0.1\\@evil.example/ HTTP/1.1\r\nHost: 127.0.0.1',
    'CONNECT 127.0.0.1 HTTP/1.1\r\nHost: 127.0.0.1',
    'CONNECT 127.0.0.1:99999 HTTP/1.1\r\nHost: 127.0.0.1:99999',
    'CONNECT a@127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80',
    'CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: evil.example:80',
    'CONNECT http://127.0.0.1:80/ HTTP/1.1\r\nHost: 127.0.0.1:80',
  ])('%j is refused', async (head) => {
    const world = await startWorld(forward('[[forward.host]]\nmatch = "127.0.0.1"'))
    expect(await raw(world.forward!, `${head}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('the routes of the same proxy', () => {
  async function withRoute() {
    const upstream = await startUpstream()
    const route = `[[route]]\nprefix = "/api"\nupstream = "${upstream.origin}"\nallow = ["API_KEY"]\n`
    // The settings allow no other address of this machine.
    const world = await startWorld(`${route}[forward]\nlisten = "127.0.0.1:0"\n${ruled}`, { API_KEY: key })
    return { upstream, world, port: Number(new URL(world.reverse!).port) }
  }

  test.each(['127.0.0.1', 'localhost'])(
    'are reached through the proxy at %s, with and without CONNECT',
    async (host) => {
      const { upstream, world, port } = await withRoute()
      for (const way of [[], ['--proxytunnel']])
        await curl(world, ...way, `http://${host}:${port}/api/v1`, '-H', 'A: {{skerry:API_KEY}}')
      expect(upstream.got.map(({ url, headers }) => [url, headers.a])).toEqual(Array(2).fill(['/v1', key]))
    },
  )

  test('are reached by WebSockets through the proxy too', async () => {
    const { world, port } = await withRoute()
    const upgrade = 'Connection: Upgrade, close\r\nUpgrade: websocket'
    const answer = await raw(
      world.forward!,
      `GET http://127.0.0.1:${port}/none HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${upgrade}\r\n\r\n`,
    )
    expect(answer).toContain('x-skerry-refusal: no_route')
  })

  test('refuse a ticket with CONNECT, because it would not apply to the requests inside', async () => {
    const { world, port } = await withRoute()
    const head = `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Skerry-Ticket: skp_x\r\n\r\n`
    expect(await raw(world.forward!, head)).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('do not open other ports of this machine', async () => {
    const { upstream, world } = await withRoute()
    const { stdout } = await curl(world, '-i', upstream.origin)
    expect(stdout).toContain('x-skerry-refusal: egress')
    expect(upstream.got).toEqual([])
  })
})

describe('a port', () => {
  test('other than the scheme’s gets no secret unless the settings name it', async () => {
    const upstream = await startUpstream()
    const ask = async (ports: string) => {
      const hosts = `[[forward.host]]\nports = ${ports}\nmatch = "127.0.0.1"\nallow = ["API_KEY"]`
      const world = await startWorld(forward(hosts), { API_KEY: key })
      const { stdout } = await curl(world, '-i', `http://127.0.0.1:${upstream.port}/`, '-H', 'A: {{skerry:API_KEY}}')
      return /x-skerry-refusal: (\S+)/.exec(stdout)?.[1]
    }
    expect(await ask('[80, 443]')).toBe('no_rule')
    expect(upstream.got).toEqual([])
    expect(await ask(`[${upstream.port}]`)).toBeUndefined()
    expect(await ask(`["${upstream.port - 1}-${upstream.port}"]`)).toBeUndefined()
    expect(upstream.got).toHaveLength(2)
  })

  test('must be the default of the scheme unless the settings name others', async () => {
    const { upstream, ...world } = await intercepted(ruled, '')
    const { stdout } = await curl(world, '-i', upstream.origin, '-H', 'A: {{skerry:API_KEY}}')
    expect(stdout).toContain(`no rule covers port ${upstream.port} of this host; add the port to the setting "ports"`)
    expect(upstream.got).toEqual([])
  })
})

describe('a host that no rule names', () => {
  test('is passed through unchanged: its own certificate, its bytes, its placeholders', async () => {
    const { upstream, ...world } = await intercepted('', '[[forward.host]]\nmatch = "other.example.test"')
    const own = `${world.folder}/own.pem`
    await writeFile(own, upstream.ca)
    const done = await curl(world, '--cacert', own, upstream.origin, '-H', 'A: {{skerry:API_KEY}}')
    expect(done.stderr).toBe('')
    expect(upstream.got[0]?.headers.a).toBe('{{skerry:API_KEY}}')
  })

  test('is passed through without CONNECT too, except for the ticket', async () => {
    const upstream = await startUpstream()
    const world = await startWorld(forward(ruled))
    const asked = ['-X', 'PUT', '-d', 'body', '-H', 'X-Skerry-Ticket: skp_x', '-H', 'A: {{skerry:API_KEY}}']
    await curl(world, `http://127.0.0.1:${upstream.port}/p?q`, ...asked)
    expect(upstream.got[0]).toMatchObject({
      method: 'PUT',
      url: '/p?q',
      body: 'body',
      headers: { a: '{{skerry:API_KEY}}' },
    })
    expect(upstream.got[0]?.headers).not.toHaveProperty('x-skerry-ticket')
  })

  test('is refused if the settings say so', async () => {
    const upstream = await startUpstream()
    const world = await startWorld(forward(ruled, 'unmatched_host_policy = "deny"'))
    for (const way of [[], ['--proxytunnel']]) {
      const { stdout, stderr } = await curl(world, ...way, '-i', `http://127.0.0.1:${upstream.port}/`)
      expect(stdout + stderr).toMatch(/403/)
    }
    expect(upstream.got).toEqual([])
  })

  test('does not include a named host that is spelled with a final dot or in capitals', async () => {
    const { upstream, ...world } = await intercepted()
    for (const host of [`${name}.`, name.toUpperCase()])
      await curl(world, '-k', `https://${host}:${upstream.port}/`, '-H', 'A: {{skerry:API_KEY}}')
    expect(upstream.got.map(({ headers }) => [headers.a, headers.host])).toEqual(
      Array(2).fill([key, `${name}:${upstream.port}`]),
    )
  })
})

describe('an agent cannot reach', () => {
  test.each([
    '127.0.0.1',
    '[::1]',
    '169.254.169.254',
    '[::ffff:127.0.0.1]',
    '10.0.0.1',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
  ])('%s: with CONNECT, without it, and inside it', async (host) => {
    const bare = host.replace(/[[\]]/g, '')
    const isName = !/[.:].*[.:]/.test(bare) || bare.startsWith('0x')
    const rules = isName || bare.includes(':') ? ruled : `[[forward.host]]\nmatch = "${bare}"\nports = [9]\n`
    const world = await startWorld(
      `[forward]\nlisten = "127.0.0.1:0"\n${rules}`,
      {},
      isName ? { lookUp: lookUpHere } : {},
    )
    const answers = [
      await raw(world.forward!, `GET http://${host}:9/ HTTP/1.1\r\nHost: ${host}:9\r\nConnection: close\r\n\r\n`),
      await raw(world.forward!, [
        `CONNECT ${host}:9 HTTP/1.1\r\nHost: ${host}:9\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: ${host}:9\r\nConnection: close\r\n\r\n`,
      ]),
    ]
    for (const answer of answers) expect(answer).toMatch(/HTTP\/1\.1 403 [\s\S]*x-skerry-refusal: egress/)
  })

  test('an internal address of a name that changes its address: the name is resolved only once', async () => {
    const upstream = await startUpstream()
    let asked = 0
    const world = await startWorld(
      `[forward]\nlisten = "127.0.0.1:0"\n[[forward.host]]\nmatch = "rebind.example.test"\nports = ["1-65535"]`,
      {},
      {
        lookUp: (_, done) => {
          asked++
          done(null, [{ address: asked === 1 ? '127.0.0.1' : '93.184.216.34', family: 4 }])
        },
      },
    )
    const done = await curl(world, '-i', `http://rebind.example.test:${upstream.port}/`)
    expect(done.stdout).toContain('x-skerry-refusal: egress')
    expect([asked, upstream.got]).toEqual([1, []])
  })
})

test('a WebSocket opens with the secret, and its frames pass in both directions', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let seen: string | undefined
  server.on('connection', (socket, request) => {
    seen = request.headers.authorization
    socket.on('message', (data) => socket.send(`echo ${data}`))
  })
  const world = await startWorld(
    `[[route]]\nprefix = "/ws"\nupstream = "http://127.0.0.1:${port}"\nallow = ["API_KEY"]\npaths = ["/live"]`,
    { API_KEY: key },
  )
  const headers = { authorization: 'Bearer {{skerry:API_KEY}}' }
  const client = new WebSocket(`${world.reverse!.replace('http', 'ws')}/ws/live`, { headers })
  await once(client, 'open')
  client.send('hello')
  const [data] = await once(client, 'message')
  expect([seen, String(data)]).toEqual([`Bearer ${key}`, 'echo hello'])
  client.close()
  const refused = new WebSocket(`${world.reverse!.replace('http', 'ws')}/ws/other`, { headers })
  const [, answer] = await once(refused, 'unexpected-response')
  expect([answer.statusCode, answer.headers['x-skerry-refusal']]).toEqual([403, 'path_not_allowed'])
})

test('a WebSocket inside CONNECT opens with the secret, over TLS that the client has checked', async () => {
  const { upstream, ...world } = await intercepted()
  const server = new WebSocketServer({ server: upstream.server })
  let seen: string | undefined
  server.on('connection', (socket, request) => {
    seen = request.headers.authorization
    socket.on('message', (data) => socket.send(`echo ${data}`))
  })
  const { hostname, port } = new URL(world.forward!)
  const asked = connectTcp(Number(port), hostname)
  asked.write(`CONNECT ${name}:${upstream.port} HTTP/1.1\r\nHost: ${name}:${upstream.port}\r\n\r\n`)
  expect(String(await once(asked, 'data'))).toMatch(/^HTTP\/1\.1 200 /)
  const socket = connectTls({ socket: asked, servername: name, ca: await readFile(world.certificatePath!) })
  const client = new WebSocket(`${upstream.origin.replace('http', 'ws')}/live`, {
    headers: { authorization: 'Bearer {{skerry:API_KEY}}' },
    createConnection: () => socket,
  })
  await once(client, 'open')
  client.send('hello')
  const [data] = await once(client, 'message')
  expect([seen, String(data)]).toEqual([`Bearer ${key}`, 'echo hello'])
  client.terminate()
})

test('an unknown protocol inside CONNECT ends with a refusal and not with a connection', async () => {
  const silent = createTcpServer()
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const world = await startWorld(forward('[[forward.host]]\nmatch = "127.0.0.1"'))
  const { port } = silent.address() as AddressInfo
  const opening = `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  expect(await raw(world.forward!, [opening, 'SSH-2.0-client\r\n'])).toMatch(/HTTP\/1\.1 400 /)
})

describe('the certificate authority', () => {
  test('is stored, with a key file that only its owner can read', async () => {
    const folder = await scratch()
    const paths = [`${folder}/ca.pem`, `${folder}/key.pem`] as const
    await openAuthority(...paths)
    const before = await readFile(paths[0], 'utf8')
    await openAuthority(...paths)
    expect(await readFile(paths[0], 'utf8')).toBe(before)
    expect((await stat(paths[1])).mode & 0o777).toBe(0o600)
  })

  test('is refused if its files do not match, or if others can read the key', async () => {
    const folder = await scratch()
    const [one, other] = [`${folder}/a`, `${folder}/b`]
    for (const base of [one, other]) await openAuthority(`${base}.pem`, `${base}.key`)
    await expect(openAuthority(`${one}.pem`, `${other}.key`)).rejects.toThrow('are not a certificate and its key:')
    await expect(openAuthority(`${one}.pem`, `${folder}/none`)).rejects.toThrow('is missing')
    const { chmod } = await import('node:fs/promises')
    await chmod(`${one}.key`, 0o640)
    await expect(openAuthority(`${one}.pem`, `${one}.key`)).rejects.toThrow(
      ': set its mode to 0600, and replace the key if somebody may have read it',
    )
  })
})
