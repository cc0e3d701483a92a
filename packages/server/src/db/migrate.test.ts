import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { engines, type RunningEngine } from '../../test/db/engines.ts'
import type { Database } from './database.ts'
import { migrate, pendingMigrations } from './migrate.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skerry-migrations-'))
  add('0001-items', 'create table items (id integer primary key);\ninsert into items values (1);')
  add(
    '0002-notes',
    `create table notes (text text default 'a;b'); -- two statements; one comment\ninsert into notes values ($$;$$);`,
  )
})
afterEach(() => rmSync(folder, { recursive: true }))

function add(name: string, sql: string): void {
  writeFileSync(join(folder, `${name}.sql`), sql)
}

for (const engine of engines) {
  describe.skipIf(engine.missing)(`${engine.name}${engine.missing ? ` (skipped: ${engine.missing})` : ''}`, () => {
    let running: RunningEngine
    let db: Database

    beforeAll(async () => {
      running = await engine.start()
    })
    beforeEach(async () => {
      db = await running.open()
    })
    afterAll(() => running?.stop())

    it('applies all migrations to an empty database, in order, and records them', async () => {
      const lines: string[] = []
      expect(await pendingMigrations(db, { folder })).toEqual(['0001-items', '0002-notes'])
      await migrate(db, { folder, log: (line) => lines.push(line) })
      expect(lines).toEqual(['Applied migration 0001-items', 'Applied migration 0002-notes'])
      expect(await pendingMigrations(db, { folder })).toEqual([])
      const recorded =
        'select number, name, length(sha256) as length, applied_at <= now() as past from schema_migrations'
      expect(await db.rows(`${recorded} order by number`)).toEqual([
        { number: 1, name: '0001-items', length: 64, past: true },
        { number: 2, name: '0002-notes', length: 64, past: true },
      ])
    })

    it('applies only new migrations when it runs again', async () => {
      await migrate(db, { folder })
      add('0003-more', 'insert into items values (2);')
      expect(await pendingMigrations(db, { folder })).toEqual(['0003-more'])
      await migrate(db, { folder })
      await migrate(db, { folder })
      expect(await db.rows('select id from items order by id')).toEqual([{ id: 1 }, { id: 2 }])
    })

    it('rolls back a failed migration, keeps the earlier ones, and continues once it is fixed', async () => {
      add('0003-broken', 'insert into items values (3); insert into items values (1 / 0);')
      await expect(migrate(db, { folder })).rejects.toThrow('Migration 0003-broken failed: division by zero')
      expect(await db.rows('select id from items')).toEqual([{ id: 1 }])
      expect(await pendingMigrations(db, { folder })).toEqual(['0003-broken'])
      add('0003-broken', 'insert into items values (3);')
      await migrate(db, { folder })
      expect(await db.rows('select id from items order by id')).toEqual([{ id: 1 }, { id: 3 }])
    })

    it('refuses a migration that was changed after it was applied', async () => {
      await migrate(db, { folder })
      add('0001-items', 'create table items (id bigint primary key);')
      await expect(migrate(db, { folder })).rejects.toThrow(/0001-items is not the one that was applied/)
    })

    it('accepts a file with other line ends as the same migration', async () => {
      await migrate(db, { folder })
      add('0001-items', 'create table items (id integer primary key);\r\ninsert into items values (1);')
      await migrate(db, { folder })
    })

    it('refuses a database that is newer than this release', async () => {
      add('0003-future', 'insert into items values (3);')
      await migrate(db, { folder })
      rmSync(join(folder, '0003-future.sql'))
      await expect(migrate(db, { folder })).rejects.toThrow(
        'The database schema is newer than this server: it has migration 0003-future',
      )
      // A running server of the older release keeps serving during an upgrade.
      expect(await pendingMigrations(db, { folder })).toEqual([])
    })

    it('refuses a folder with a gap or a misnamed file before it changes the database', async () => {
      add('0004-late', 'select 1;')
      await expect(migrate(db, { folder })).rejects.toThrow('0004-late.sql is out of order: expected number 3')
      rmSync(join(folder, '0004-late.sql'))
      add('0003_wrong', 'select 1;')
      await expect(migrate(db, { folder })).rejects.toThrow('0003_wrong.sql is out of order')
      expect(await db.rows(`select to_regclass('schema_migrations') as found`)).toEqual([{ found: null }])
    })

    it('applies the migrations of this release to an empty database', async () => {
      await migrate(db)
      expect(await pendingMigrations(db)).toEqual([])
    })

    it.runIf(engine.name === 'postgres')('applies each migration once when ten servers start together', async () => {
      add('0003-slow', 'select pg_sleep(0.1); insert into items values (3);')
      const servers = [db, ...(await Promise.all(Array.from({ length: 9 }, () => running.openSecond())))]
      const lines: string[] = []
      await Promise.all(servers.map((server) => migrate(server, { folder, log: (line) => lines.push(line) })))
      expect(lines.sort()).toEqual(['0001-items', '0002-notes', '0003-slow'].map((name) => `Applied migration ${name}`))
      expect(await db.rows('select id from items order by id')).toEqual([{ id: 1 }, { id: 3 }])
    })
  })
}
