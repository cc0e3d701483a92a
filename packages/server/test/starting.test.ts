import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { health } from '@skerry/contract/health/endpoints'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { engine } from './engine.ts'
import { type PostgresService, startPostgres } from './services/postgres.ts'
import { call, serverKey, start } from './world.ts'

describe.runIf(engine() === 'postgres')('servers that start at once on an empty database', () => {
  let service: PostgresService
  let dataDir: string

  beforeAll(async () => {
    service = (await startPostgres({ fsync: false })) as PostgresService
    dataDir = await mkdtemp(join(tmpdir(), 'skerry-starting-'))
  })
  afterAll(async () => {
    await service.dispose()
    await rm(dataDir, { recursive: true, force: true })
  })

  test('are all ready, and can be closed', async () => {
    const settings = {
      SKERRY_PORT: '0',
      SKERRY_DATA_DIR: dataDir,
      SKERRY_DATABASE_URL: await service.createDatabase('empty'),
      SKERRY_SERVER_KEY: serverKey,
    }
    const starting = Array.from({ length: 3 }, () => start(readConfig(settings), [], () => new Date()))
    const outcomes = await Promise.allSettled(starting)
    const servers = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.close()))))
    expect(outcomes.flatMap((one) => (one.status === 'rejected' ? String(one.reason) : []))).toEqual([])
    const statuses = () => Promise.all(servers.map(async ({ url }) => (await call(url, [], health.ready)).status))
    // A server answers 503 at first if the database takes longer than two seconds.
    await expect.poll(statuses).toEqual([200, 200, 200])
  })
})
