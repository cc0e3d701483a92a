import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { newDatabase } from '../engine.ts'
import { startProcess } from './server-process.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'skerry-npm-'))
const database = await newDatabase(dataDir)
const settings = { SKERRY_DATA_DIR: dataDir, ...database.settings }
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true })
})

test('the server ends together with `npm start`, and leaves no orphan process', async () => {
  // `--ignore-scripts` skips the build of the dashboard.
  const { url, stop } = await startProcess(settings, ['npm', 'start', '--ignore-scripts'])
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await stop()).toBe(0)
  await expect(fetch(`${url}/health`)).rejects.toThrow()
})

test('a server that gets two stop signals at once, for example also from npm, still exits with 0', async () => {
  const { url, pid, stop } = await startProcess(settings)
  expect((await fetch(`${url}/health`)).status).toBe(200)
  process.kill(pid, 'SIGINT')
  expect(await stop()).toBe(0)
})
