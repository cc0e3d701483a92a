import fastify from 'fastify'
import { expect, test } from 'vitest'
import type { BuiltPages } from '../../http/build.ts'
import { mountConnectPage, pagePaths } from './connect-page.ts'

const build: BuiltPages['build'] = { sources: '', files: {}, importMapSha256: null }

async function get(path: string, host: string, built: BuiltPages | null) {
  const app = fastify()
  mountConnectPage(app, built)
  const answer = await app.inject({ url: path, headers: { host } })
  await app.close()
  return answer
}

const built: BuiltPages = { build, page: '<!doctype html>', dist: new URL('file:///none/') }

test.each(pagePaths)(
  '%s answers with the page, under a policy that allows nothing inline and no frame around it',
  async (path) => {
    const { headers } = await get(path, 'vault.example.com', built)
    const policy = String(headers['content-security-policy'])
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self' https:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ]),
    )
    expect(policy).not.toMatch(/unsafe|nonce|http:|blob:|\*/)
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    })
  },
)

test('executors on plain HTTP are allowed only if the server itself is reached at this machine', async () => {
  const policyAt = async (host: string) =>
    String((await get('/connect', host, built)).headers['content-security-policy'])
  expect(await policyAt('localhost:4700')).toContain("connect-src 'self' https: http://localhost:* http://127.0.0.1:*;")
  expect(await policyAt('localhost.evil.example')).toContain("connect-src 'self' https:;")
})

test('without a build, the page says which command to run', async () => {
  const { headers, body } = await get('/connect', 'localhost', null)
  expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(body).toContain('npm run build')
})
