import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificateFor } from '../../providers/test/services/certificate.ts'
import { builtIn, openWorld, type World } from '../../server/test/world.ts'

let world: World
let hashes: Record<string, string>

beforeAll(async () => {
  world = await openWorld(builtIn)
  const answer = await fetch(`${world.url}/.well-known/skerry-dashboard-hashes`)
  hashes = ((await answer.json()) as { files: Record<string, string> }).files
})
afterAll(() => world?.close())

const get = (path: string, headers: Record<string, string> = {}) => fetch(world.url + path, { headers })
const sha384 = (bytes: ArrayBuffer) => `sha384-${createHash('sha384').update(new Uint8Array(bytes)).digest('base64')}`

test('the server sends every file with its published hash, compressed or not', async () => {
  const paths = Object.keys(hashes).filter((path) => path !== '/')
  expect(paths.length).toBeGreaterThan(10)
  for (const path of paths)
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answer = await get(path, { 'accept-encoding': encoding })
      expect([path, encoding, sha384(await answer.arrayBuffer())]).toEqual([path, encoding, hashes[path]])
    }
})

test('browsers cache assets permanently, and load the page each time', async () => {
  const script = Object.keys(hashes).find((path) => path.endsWith('.js')) as string
  expect((await get(script)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await get('/')).headers.get('cache-control')).toBe('no-store')
})

test('the page has a hash for every script and style that it loads', async () => {
  const html = await (await get('/')).text()
  const loaded = [...html.matchAll(/<(?:script|link)\b[^>]*(?:src|href)="(\/assets\/[^"]+)"[^>]*>/g)]
  expect(loaded.length).toBeGreaterThan(2)
  for (const [tag, path = ''] of loaded) expect(tag).toContain(`integrity="${hashes[path]}"`)
  const map = JSON.parse(/<script type="importmap">(.*)<\/script>/.exec(html)?.[1] as string)
  expect(Object.keys(map.integrity)).toEqual(Object.keys(hashes).filter((path) => path.endsWith('.js')))
})

test('the page’s policy allows no inline script, no eval, no other origin and no frame', async () => {
  const policy = (await get('/')).headers.get('content-security-policy') ?? ''
  expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|https?:|data:|blob:|\*/)
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]+=*';/)
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"])
    expect(policy).toContain(part)
})

test('the keyring’s worker may compile WebAssembly, and may not connect to anything', async () => {
  const worker = Object.keys(hashes).find((path) => path.includes('/worker-')) as string
  const policy = (await get(worker)).headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'")
  expect(policy).not.toContain('connect-src')
})

test('the page is compressed for a browser that accepts it, and the same otherwise', async () => {
  const withoutNonce = async (encoding: string) => {
    const answer = await get('/', { 'accept-encoding': encoding })
    return [answer.headers.get('content-encoding'), (await answer.text()).replace(/nonce="[^"]+"/, '')]
  }
  const [[compressed, page], [plain, same]] = [await withoutNonce('gzip, br'), await withoutNonce('identity')]
  expect([compressed, plain]).toEqual(['gzip', null])
  expect(page).toBe(same)
})

test('each answer has its own nonce', async () => {
  const nonceOf = async () => /nonce="([\w-]{43})"/.exec(await (await get('/')).text())?.[1]
  expect(await nonceOf()).not.toBe(await nonceOf())
})

test.each(['/orgs/acme/apps', '/account/keyring', '/sign-in', '/cli/WDJB-MJHT'])('%s is a page', async (path) => {
  expect((await get(path)).headers.get('content-type')).toBe('text/html; charset=utf-8')
})

test.each(['/v1/none', '/assets/none.js', '/assets/../build.json', '/none', '/sign-in/none'])(
  'the server answers %s with 404',
  async (path) => {
    const answer = await get(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  },
)

describe('skerry dashboard verify', () => {
  test('finds no difference if the server sends this build', async () => {
    expect(await verify(world.url)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('are what this installation has'),
    })
  })

  test('names a script with one changed byte', async () => {
    const script = Object.keys(hashes).find((path) => path.includes('/worker-')) as string
    await using proxy = await tamperWith(script)
    expect(await verify(proxy.url)).toMatchObject({ code: 1, stdout: `${script}: other content\n` })
  })

  test('says why it got no answer: an authority that is not known, or no server', async () => {
    await using front = await behindUnknownAuthority()
    const untrusted = await verify(front.url)
    expect([untrusted.code, untrusted.stderr]).toEqual([
      6,
      expect.stringContaining('the server’s certificate is not trusted'),
    ])
    expect(untrusted.stderr).toContain('set NODE_EXTRA_CA_CERTS to a file')
    const closed = await verify('http://localhost:1')
    expect([closed.code, closed.stderr]).toEqual([
      6,
      expect.stringMatching(/the server cannot be reached: .*; check the address, and that the server runs/),
    ])
  })
})

const cli = fileURLToPath(new URL('../../cli/src/main.js', import.meta.url))

/** Runs the command in another process, because the server of this process must keep answering. */
async function verify(url: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const running = promisify(execFile)(process.execPath, [cli, 'dashboard', 'verify', url])
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

/** A server with TLS whose certificate this machine does not trust. */
async function behindUnknownAuthority() {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-authority-'))
  const { certFile, keyFile } = certificateFor({}, { path: folder, remove: () => {} })
  const server = createTlsServer({ cert: await readFile(certFile), key: await readFile(keyFile) }).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `https://localhost:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** A proxy that changes one byte of one file. */
async function tamperWith(path: string) {
  const server = createServer(async ({ url = '' }, response) => {
    const answer = await get(url, { 'accept-encoding': 'identity' })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    if (url === path) bytes[bytes.length - 1] = 0x20
    response.writeHead(answer.status, {
      'content-security-policy': answer.headers.get('content-security-policy') ?? '',
    })
    response.end(bytes)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() }
}
