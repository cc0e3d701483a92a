import { listEndpoints } from '@skerry/contract/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorld } from '../../../test/world.ts'
import { routes } from '../../app.ts'
import { accessFacts } from './access-words.ts'

const world = await openWorld()
afterAll(() => world.close())

const read = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(world.url + path, { method, headers })

const documents = ['/docs', '/docs.css', '/openapi.json']

describe.each(documents)('%s', (path) => {
  test('is answered without a credential, with a policy under which nothing runs', async () => {
    const response = await read(path)
    expect(response.status).toBe(200)
    const policy = response.headers.get('content-security-policy')?.split('; ')
    expect(policy).toEqual([
      "default-src 'none'",
      "style-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'public, no-cache',
    })
  })

  test('is answered with 304 to a reader that has it', async () => {
    const etag = (await read(path)).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{43}"$/)
    for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await read(path, { 'if-none-match': held })
      expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', etag])
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
    expect((await read(path, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('answers HEAD with its size, and other methods with 404', async () => {
    const [head, whole] = [await read(path, {}, 'HEAD'), await (await read(path)).arrayBuffer()]
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.byteLength)])
    expect((await read(path, {}, 'POST')).status).toBe(404)
  })
})

describe('the page', () => {
  let page: string
  beforeAll(async () => {
    const response = await read('/docs')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    page = await response.text()
  })

  test('shows every operation, with who may call it', () => {
    for (const { heading, name, endpoint } of listEndpoints()) {
      expect(page).toContain(`<article id="${heading}.${name}">`)
      expect(page.replaceAll('<wbr>', '')).toContain(`<code class="path">${endpoint.path}</code>`)
    }
    expect(page).toContain('<code>grantee(env(member))</code>')
  })

  test('loads only its stylesheet, and contains no script and no style of its own', () => {
    expect([...page.matchAll(/<link [^>]*>/g)].map(String)).toEqual(['<link rel="stylesheet" href="docs.css">'])
    expect(page).not.toMatch(/<script|<style|<img|<iframe|\sstyle=|\son\w+=|\s(?:href|src)="https?:/)
  })

  test('has only links that lead somewhere, and no id twice', () => {
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1])
    expect(new Set(ids).size).toBe(ids.length)
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1])
    expect(targets.length).toBeGreaterThan(listEndpoints().length)
    for (const target of targets) expect(ids).toContain(target)
  })

  test('has as many cells in each row of a table as in its head, and no cell shows an object or undefined', () => {
    const tables = [...page.matchAll(/<thead>(.*?)<\/thead>(.*?)<\/table>/gs)]
    expect(tables.length).toBeGreaterThan(100)
    for (const [, head = '', body = ''] of tables) {
      const columns = head.match(/<th /g)?.length
      const rows = [...body.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) => row.match(/<td>/g)?.length)
      expect(new Set(rows), body).toEqual(new Set([columns]))
    }
    expect(page).not.toMatch(/\[object \w+\]|\bundefined\b/)
  })

  test('closes every element that it opens', () => {
    const open: string[] = []
    for (const [, end, name] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
      if (['meta', 'link', 'wbr'].includes(name as string)) continue
      if (end) expect(open.pop()).toBe(name)
      else open.push(name as string)
    }
    expect(open).toEqual([])
  })
})

describe('the OpenAPI document', () => {
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

test('exactly the words that access names use are explained', () => {
  const used = new Set(routes.flatMap(({ access }) => wordsOf(access.name)))
  expect([...used].sort()).toEqual(Object.keys(accessFacts(routes).words).sort())
})
