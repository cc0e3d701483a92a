import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDatabase } from '../engine.ts'
import { startProcess } from './server-process.ts'

test('the server of `npm start` ends with it, and leaves no orphan', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-npm-'))
  const database = await newDatabase(dataDir)
  const settings = { SKERRY_DATA_DIR: dataDir, ...database.settings }
  // Without the dashboard, which is built before.
  const { url, stop } = await startProcess(settings, ['npm', 'start', '--ignore-scripts'])
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await stop()).toBe(0)
  await expect(fetch(`${url}/health`)).rejects.toThrow()
  await database.drop()
  await rm(dataDir, { recursive: true })
})
