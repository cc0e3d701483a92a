import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../../packages/server/test/services/free-port.ts'
import { start } from '../start.ts'

test('one call starts all parts of the example, and ends them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-example-'))
  const running = await start(folder, { product: await freePort(), executor: await freePort() })
  const { url, serverUrl } = running
  const body = await (await fetch(url)).text()
  expect(body).toContain('Connect weather')
  const link = await fetch(`${url}/calendar`, { method: 'POST', redirect: 'manual' })
  expect(link.headers.get('location')).toMatch(new RegExp(`^${serverUrl}/connect/#t=vct_`))
  await running[Symbol.asyncDispose]()
  for (const gone of [url, serverUrl]) await expect(fetch(gone)).rejects.toThrow()
  expect((await readdir(folder)).sort()).toEqual(['executor', 'server'])
  await rm(folder, { recursive: true })
})
