import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorld } from '../../../test/world.ts'
import { routes } from '../../app.ts'
import type { BuiltPages } from '../../http/build.ts'
import { accessRules } from './access-rules.ts'
import { mountDocs } from './docs.ts'

const world = await openWorld()
afterAll(() => world.close())

const read = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(world.url + path, { method, headers })

describe('the OpenAPI document', () => {
  test('is answered without a credential, with 304 to a reader that has it', async () => {
    const response = await read('/openapi.json')
    const etag = response.headers.get('etag') ?? ''
    expect([response.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]{43}"$/)])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'public, no-cache',
    })
    for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await read('/openapi.json', { 'if-none-match': held })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await read('/openapi.json', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('answers HEAD with its size, and other methods with 404', async () => {
    const [head, whole] = [await read('/openapi.json', {}, 'HEAD'), await (await read('/openapi.json')).arrayBuffer()]
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.byteLength)])
    expect((await read('/openapi.json', {}, 'POST')).status).toBe(404)
  })

  test('has every route of this server', async () => {
    const document = (await (await read('/openapi.json')).json()) as { paths: Record<string, object> }
    for (const { endpoint } of routes) {
      const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
      expect(document.paths[path]).toHaveProperty(endpoint.method.toLowerCase())
    }
  })

  test('is right that an operation without parameters still refuses unknown ones', async () => {
    expect((await read('/health?unknown=1')).status).toBe(400)
  })
})

describe('the documentation', () => {
  const app = fastify()
  let dist: string
  beforeAll(async () => {
    dist = await mkdtemp(join(tmpdir(), 'skerry-docs-'))
    await writeFile(join(dist, 'index.html'), '<!doctype html>')
    await writeFile(join(dist, 'page.html'), '<!doctype html><p>page')
    const file = { type: 'text/html; charset=utf-8', integrity: 'sha384-page', encodings: [] }
    const files = { '/docs/': { ...file, file: 'index.html' }, '/docs/page/': { ...file, file: 'page.html' } }
    const build: BuiltPages['build'] = { sources: '', files, importMapSha256: null }
    mountDocs(app, { build, page: '', dist: pathToFileURL(`${dist}/`) })
  })
  afterAll(async () => {
    await app.close()
    await rm(dist, { recursive: true })
  })

  test('a page is sent under a policy that allows only files of this server, and nothing inline', async () => {
    const { statusCode, headers, body } = await app.inject('/docs/page/?query')
    expect([statusCode, body]).toEqual([200, '<!doctype html><p>page'])
    const policy = String(headers['content-security-policy'])
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "worker-src 'none'"]),
    )
    expect(policy).not.toMatch(/unsafe|nonce|https?:|data:|blob:|\*/)
    expect(headers).toMatchObject({ 'cache-control': 'public, no-cache', etag: '"sha384-page"' })
  })

  test('a reader that has a page gets 304', async () => {
    const { statusCode } = await app.inject({ url: '/docs/', headers: { 'if-none-match': '"sha384-page"' } })
    expect(statusCode).toBe(304)
  })

  test.each([
    ['/docs', '/docs/'],
    ['/docs/page', '/docs/page/'],
  ])('%s leads to %s', async (url, location) => {
    const { statusCode, headers } = await app.inject(url)
    expect([statusCode, headers.location]).toEqual([308, location])
  })

  test.each(['/docs/none', '/docs/page.html', '/docs/../index.html', '/docs/constructor'])(
    '%s does not exist',
    async (url) => {
      expect((await app.inject(url)).statusCode).toBe(404)
    },
  )

  test('without a build, the answer says which command to run', async () => {
    const unbuilt = fastify()
    mountDocs(unbuilt, null)
    const { headers, body } = await unbuilt.inject('/docs/quick-start/')
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(body).toContain('npm run build')
    await unbuilt.close()
  })
})

/**
 * The words that an access name is made of.
 *
 * @example wordsOf('limited(signup, open: makes a tenant)') // ['limited', 'open']
 */
function wordsOf(accessName: string): string[] {
  return (
    accessName
      .replace(/open: .*/, 'open')
      // The name of a limit or a quota is no word of an access.
      .replace(/\([\w.]+, /g, '(')
      .match(/\w+/g) ?? []
  )
}

test('the access of each route explains every word of its name', () => {
  for (const { access } of routes) expect(Object.keys(access.words).sort()).toEqual(wordsOf(access.name).sort())
})

test('the reference lists machine clients only where they may call', () => {
  const refusing = routes.filter(({ access }) => /\b(?:keyed|grantee)\(/.test(access.name))
  expect(refusing.length).toBeGreaterThan(20)
  for (const { access } of refusing) expect(Object.values(access.words).join(' ')).not.toMatch(/or a machine client\b/)
})

test('the reference says in sentences who may call an operation', () => {
  const rules = accessRules(routes)
  expect(rules.get('POST /v1/orgs/:orgId/sync/connections')).toBe(
    'An owner or admin of the organization, an admin service token, or a machine client. ' +
      'The server refuses a service token that is bound to an environment. ' +
      'If the server enforces the limits of plans, the organization must be below the limit of its plan for `sync.connections`. ' +
      'If the server enforces the limits of plans, the plan of the organization must include the feature `sync`.',
  )
  expect(rules.get('POST /v1/cli-login')).toMatch(/^No `Authorization` header is needed: .+\. The server limits /)
})
