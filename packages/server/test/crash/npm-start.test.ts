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

test('the server of `npm start` ends with it, and leaves no orphan', async () => {
  // Without the dashboard, which is built before.
  const { url, stop } = await startProcess(settings, ['npm', 'start', '--ignore-scripts'])
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await stop()).toBe(0)
  await expect(fetch(`${url}/health`)).rejects.toThrow()
})

test('a signal that reaches the server twice at once, say through npm too, is one', async () => {
  const { url, pid, stop } = await startProcess(settings)
  expect((await fetch(`${url}/health`)).status).toBe(200)
  process.kill(pid, 'SIGINT')
  expect(await stop()).toBe(0)
})
