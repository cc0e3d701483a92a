import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { makeTemplate, type Template } from '../../test/db/template.ts'
import { missingPostgres, type PostgresService, startPostgres } from '../../test/services/postgres.ts'
import { openWire } from '../../test/services/wire.ts'
import { until } from '../../test/until.ts'
import { longMs } from '../../test/wait-limits.ts'
import { type Identity, openIdentity } from './identity.ts'
import { openDatabase } from './open.ts'
import { openPostgres } from './postgres.ts'

const missing = process.env.SKERRY_REQUIRE_SERVICES === '1' ? undefined : missingPostgres()
const password = 'planted-password'

function collector() {
  const lines: string[] = []
  const add = (line: string) => lines.push(line)
  return { lines, log: { info: add, warn: add, error: add } }
}

it('without a URL openDatabase opens the embedded database in the data directory', async () => {
  const template: Template = await makeTemplate()
  const db = await openDatabase({ databaseUrl: null, dataDir: await template.copy() }, collector().log)
  expect([db.engine, await db.rows('select 1 as one')]).toEqual(['embedded', [{ one: 1 }]])
  await db.close()
  await template.remove()
})

it('openDatabase refuses an invalid URL without showing it', async () => {
  const { lines, log } = collector()
  for (const databaseUrl of [`postgres://a:${password}@host:port/x`, password, `mysql://a:${password}@host/x`]) {
    const failure = await openDatabase({ databaseUrl, dataDir: '' }, log).catch((error: Error) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(String((failure as Error).stack)).not.toContain(password)
    expect((failure as Error).message).toContain('SKERRY_DATABASE_URL')
  }
  expect(lines).toEqual([])
})

describe.skipIf(missing)(`postgres${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let service: PostgresService
  let url: string

  beforeAll(async () => {
    service = (await startPostgres({ fsync: false })) as PostgresService
    url = service.url.replace('postgres@', `postgres:${password}@`)
  })
  afterAll(() => service?.dispose())

  it('waits for a database that starts later, and logs this without the password', async () => {
    await service.stop()
    const { lines, log } = collector()
    let restarted: Promise<void> | undefined
    const warn = (line: string) => {
      log.warn(line)
      restarted ??= service.restart()
    }
    const db = await openDatabase({ databaseUrl: url, dataDir: '' }, { ...log, warn })
    await restarted
    expect([db.engine, await db.rows('select 1 as one')]).toEqual(['postgres', [{ one: 1 }]])
    await db.close()
    const place = new URL(url).host
    expect(lines[0]).toMatch(`PostgreSQL at ${place}/postgres does not answer yet (connect ECONNREFUSED`)
    expect(lines.join()).not.toContain(password)
  })

  it('throws if the database does not answer within waitMs', async () => {
    await service.stop()
    const { lines, log } = collector()
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    // The time ends between the first try and the second. A busy machine cannot end it earlier.
    const warn = (line: string) => {
      log.warn(line)
      vi.setSystemTime(Date.now() + 60_000)
    }
    const failed = openDatabase({ databaseUrl: url, dataDir: '', waitMs: 60_000 }, { ...log, warn })
    await expect(failed).rejects.toThrow(/did not answer within 60 s: connect ECONNREFUSED/)
    expect(lines).toHaveLength(1)
    await service.restart()
  })

  it('does not wait if the role does not exist', async () => {
    const wrong = url.replace('//postgres:', '//no_such_role:')
    const { lines, log } = collector()
    const failed = openDatabase({ databaseUrl: wrong, dataDir: '' }, log)
    await expect(failed).rejects.toThrow(/refuses access: role "no_such_role" does not exist/)
    expect(lines).toEqual([])
  })

  it('waits for an answer for databaseSilentMs before it closes the connection', async () => {
    const wire = await openWire(url)
    let looks = 0
    const identity: Identity = { ...openIdentity(), note: () => void looks++ }
    const config = { databaseUrl: wire.url, dataDir: '', databaseSilentMs: longMs, identity }
    const db = await openDatabase(config, collector().log)
    wire.silenceOpen()
    let isRefused = false
    const refused = db.rows('select 1').catch(() => {
      isRefused = true
    })
    // If the answer were already late, the first check would close the connection.
    const before = looks
    await until('two looks', () => looks >= before + 2 || isRefused)
    expect(isRefused).toBe(false)
    await wire.close()
    await refused
    await db.close()
  })

  it('refuses a database whose encoding cannot store every text', async () => {
    const admin = openPostgres(service.url)
    await admin.script(`create database narrow encoding 'SQL_ASCII' template template0`)
    await admin.close()
    const narrow = new URL(url)
    narrow.pathname = '/narrow'
    const failed = openDatabase({ databaseUrl: narrow.href, dataDir: '' }, collector().log)
    await expect(failed).rejects.toThrow(/\/narrow is encoded in SQL_ASCII; Skerry needs UTF8/)
  })
})
