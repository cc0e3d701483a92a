import { rm } from 'node:fs/promises'
import { me } from '@skerry/contract/me/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServerProcess, startProcess } from './crash/server-process.ts'
import { newDatabase, type TestDatabase } from './engine.ts'
import { newScratch } from './scratch.ts'
import { call } from './world.ts'

let dataDir: string
let database: TestDatabase
let server: ServerProcess

beforeAll(async () => {
  dataDir = await newScratch('skerry-process-')
  database = await newDatabase(dataDir)
  server = await startProcess({ ...database.settings, SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'debug' })
})
afterAll(async () => {
  await server.stop()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

test('a server keeps answering after the reader of its log has closed', async () => {
  await server.closeLog()
  for (let time = 0; time < 5; time++) expect((await call(server.url, [], me.get)).status).toBe(401)
})

test('such a server exits with 0 when it gets SIGTERM', async () => {
  expect(await server.stop()).toBe(0)
})
