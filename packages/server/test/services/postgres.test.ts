import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { missingPostgres, type PostgresService, startPostgres } from './postgres.ts'

const required = process.env.SKERRY_REQUIRE_SERVICES === '1'
const missing = required ? undefined : missingPostgres()

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

describe.skipIf(missing)(`a private PostgreSQL${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let service: PostgresService | null = null

  afterEach(async () => {
    await service?.dispose()
    service = null
  })

  it('syncs commits by default, and is removed with its data by `dispose`', async () => {
    service = (await startPostgres()) as PostgresService
    expect(await ask(service.url, 'show fsync')).toEqual([{ fsync: 'on' }])
    const [{ data }] = (await ask(service.url, `select current_setting('data_directory') as data`)) as [
      { data: string },
    ]
    expect(existsSync(data)).toBe(true)
    await service.dispose()
    expect(existsSync(data)).toBe(false)
    await expect(ask(service.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  })

  it('that cannot start makes `startPostgres` throw the reason', async () => {
    await expect(startPostgres({ settings: { nonsense: '1' } })).rejects.toThrow('unrecognized configuration parameter')
  })

  it('creates databases, empty or from a template', async () => {
    service = (await startPostgres({ fsync: false, settings: { max_connections: '20' } })) as PostgresService
    expect(await ask(service.url, 'show fsync')).toEqual([{ fsync: 'off' }])
    expect(await ask(service.url, 'show max_connections')).toEqual([{ max_connections: '20' }])
    const template = await service.createDatabase('template_of_mine')
    await ask(template, 'create table items as select 1 as id')
    expect(await ask(await service.createDatabase('copy "1"', 'template_of_mine'), 'select id from items')).toEqual([
      { id: 1 },
    ])
    await expect(ask(await service.createDatabase('empty'), 'select id from items')).rejects.toThrow('does not exist')
  })

  it('keeps committed data when it is killed, and restarts on the same port', async () => {
    service = (await startPostgres()) as PostgresService
    await ask(service.url, 'create table items as select 1 as id')
    await service.kill9()
    await expect(ask(service.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
    await service.restart()
    expect(await ask(service.url, 'select id from items')).toEqual([{ id: 1 }])
  })

  it('ends by itself when the test run that started it is killed', async () => {
    const program = `import { startPostgres } from ${JSON.stringify(fileURLToPath(new URL('./postgres.ts', import.meta.url)))}
      const service = await startPostgres({ fsync: false })
      console.log(service.url)
      setInterval(() => {}, 1000)`
    const run = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const url = (await createInterface(run.stdout)[Symbol.asyncIterator]().next()).value as string
    const [{ data }] = (await ask(url, `select current_setting('data_directory') as data`)) as [{ data: string }]
    const exited = once(run, 'exit')
    run.kill('SIGKILL')
    await exited
    while (existsSync(data)) await sleep(20)
    await expect(ask(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  })
})

it('`startPostgres` returns null if there is no PostgreSQL, or throws if services are required', async () => {
  const before = { ...process.env }
  process.env.SKERRY_POSTGRES_BIN = '/nonexistent'
  try {
    process.env.SKERRY_REQUIRE_SERVICES = ''
    expect(missingPostgres()).toMatch('no PostgreSQL binaries')
    expect(await startPostgres()).toBeNull()
    process.env.SKERRY_REQUIRE_SERVICES = '1'
    await expect(startPostgres()).rejects.toThrow('SKERRY_REQUIRE_SERVICES=1, but')
  } finally {
    process.env = before
  }
})
