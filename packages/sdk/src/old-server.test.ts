import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { fast, ids } from '../test/world.ts'
import { createClient } from './client.ts'

const params = { orgId: ids.orgId }

/**
 * A server of an earlier release. It knows none of the paths, and serves `document` as its API description if given.
 */
async function oldServer(document?: string) {
  const asked: { path: string; authorization: string | undefined }[] = []
  const server = createServer(({ url, headers }, response) => {
    asked.push({ path: url ?? '', authorization: headers.authorization })
    if (url === '/openapi.json' && document !== undefined) return response.end(document)
    response.writeHead(404, { 'content-type': 'application/json' })
    return response.end('{"error":{"code":"not_found","message":"no such path"}}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, client: createClient({ baseUrl, credential: { bearer: 'secret-bearer' }, ...fast }) }
}

test('the error for an operation that an older server lacks names the server’s version and the operation', async () => {
  const { asked, client } = await oldServer('{"info":{"version":"0.0.9"}}')
  const message =
    'this server is older than this client, and cannot do this: version 0.0.9 does not have audit.timeline'
  await expect(client.audit.timeline({ params })).rejects.toMatchObject({ code: 'old_server', status: 404, message })
  await expect(client.stream('exporting', 'create', { params })).rejects.toMatchObject({ code: 'old_server' })
  expect(asked.filter(({ path }) => path === '/openapi.json').map(({ authorization }) => authorization)).toEqual([
    undefined,
    undefined,
  ])
})

test.each([undefined, '<html>', '{}', '{"info":{"version":7}}', '{"info":{"version":"1\\u001b[2J"}}'])(
  'the error names no version if the older server describes its API as %j',
  async (document) => {
    const { client } = await oldServer(document)
    const message = 'this server is older than this client, and cannot do this: it does not have audit.timeline'
    await expect(client.audit.timeline({ params })).rejects.toMatchObject({ code: 'old_server', message })
  },
)
