import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { engines, type RunningEngine } from '../../test/db/engines.ts'
import { listDeadLetters } from '../jobs/dead-letters.ts'
import type { Database } from './database.ts'
import { findSchemaFault, migrate } from './migrate.ts'

// A migration that adds a unique constraint may meet databases with duplicates. Each test fills a database of the
// previous release, and checks the rows after the migration.

const ownFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** Copies the migrations of this release up to a number into a new folder. */
function migrationsUntil(number: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-old-data-'))
  for (const name of readdirSync(ownFolder))
    if (Number(name.slice(0, 4)) <= number) cpSync(join(ownFolder, name), join(folder, name))
  return folder
}

async function migrateUntil(db: Database, number: number): Promise<void> {
  const folder = migrationsUntil(number)
  try {
    await migrate(db, { folder })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`

async function insertTarget(db: Database, id: string, provider: string, host: string): Promise<void> {
  const config = { provider, connection: { host, port: 5432 } }
  await db.rows(
    `insert into lease_targets (org_id, id, name, provider, config, wrapped_admin_secret, status, notes, created_at, updated_at)
     values ('org_1', $1, $2, $3, $4, 'wd1.x', 'ready', '[]', $5, $5)`,
    [id, id, provider, JSON.stringify(config), at(0)],
  )
}

async function insertPolicy(
  db: Database,
  id: string,
  { kind, config, target, minute }: { kind: string; config: object; target: string; minute: number },
): Promise<void> {
  await db.rows(
    `insert into rotation_policies (org_id, id, secret_name, kind, config, interval_seconds, target_id, status, next_run_at,
                                    created_at, updated_at)
     values ('org_1', $1, 'S', $2, $3, 3600, $4, 'active', $5, $6, $6)`,
    [id, kind, JSON.stringify(config), target, at(30), at(minute)],
  )
}

async function insertLease(
  db: Database,
  id: string,
  { target, name, status, minute }: { target: string | null; name: string; status: string; minute: number },
): Promise<void> {
  await db.rows(
    `insert into leases (org_id, id, target_id, provider, status, resource_ref, requested_by_type, requested_by_id,
                         ttl_seconds, created_at, expires_at, next_try_at)
     values ('org_1', $1, $2, 'postgres', $3, $4, 'user', 'usr_1', 600, $5, $6, $6)`,
    [id, target, status, name, at(minute), at(59)],
  )
}

for (const engine of engines) {
  describe.skipIf(engine.missing)(`0030 on ${engine.name}`, () => {
    let running: RunningEngine
    let db: Database
    beforeAll(async () => {
      running = await engine.start()
      db = await running.open()
      await migrateUntil(db, 29)
      await db.rows(
        `insert into organizations (id, name, slug, created_at, updated_at) values ('org_1', 'Acme', 'acme', $1, $1)`,
        [at(0)],
      )
      // Two spellings of the same server, and a different server.
      await insertTarget(db, 'tgt_a', 'postgres', 'DB.example.com.')
      await insertTarget(db, 'tgt_b', 'postgres', 'db.example.com')
      await insertTarget(db, 'tgt_c', 'postgres', 'other.example.com')
      await insertTarget(db, 'tgt_m', 'mysql', 'my.example.com')
      const postgres = (username: string, alternateUsername?: string) => ({
        kind: 'postgres',
        username,
        alternateUsername,
      })
      await insertPolicy(db, 'older', {
        kind: 'postgres',
        config: postgres('app', 'app_b'),
        target: 'tgt_a',
        minute: 1,
      })
      await insertPolicy(db, 'newer', { kind: 'postgres', config: postgres('app'), target: 'tgt_b', minute: 2 })
      await insertPolicy(db, 'half', {
        kind: 'postgres',
        config: postgres('free', 'app_b'),
        target: 'tgt_b',
        minute: 3,
      })
      await insertPolicy(db, 'elsewhere', { kind: 'postgres', config: postgres('app'), target: 'tgt_c', minute: 4 })
      const mysql = (userHost: string) => ({ kind: 'mysql', username: 'app', userHost })
      await insertPolicy(db, 'my-older', { kind: 'mysql', config: mysql('Web.Internal'), target: 'tgt_m', minute: 1 })
      await insertPolicy(db, 'my-newer', { kind: 'mysql', config: mysql('web.internal'), target: 'tgt_m', minute: 2 })
      await insertPolicy(db, 'my-other', { kind: 'mysql', config: mysql('%'), target: 'tgt_m', minute: 3 })
      await insertLease(db, 'same-first', { target: 'tgt_a', name: 'lease_x', status: 'active', minute: 1 })
      await insertLease(db, 'same-second', { target: 'tgt_a', name: 'lease_x', status: 'revoking', minute: 2 })
      await insertLease(db, 'other-target', { target: 'tgt_b', name: 'lease_x', status: 'active', minute: 1 })
      await insertLease(db, 'ended', { target: 'tgt_a', name: 'lease_x', status: 'expired', minute: 3 })
      await insertLease(db, 'no-target', { target: null, name: 'lease_y', status: 'orphaned', minute: 1 })
      await migrateUntil(db, 30)
    })
    afterAll(() => running?.stop())

    test('the older of two policies keeps the account, and the other policy is paused with a reason', async () => {
      const rows = await db.rows<{ id: string; status: string; next: string | null; error: string | null }>(
        'select id, status, next_run_at::text as next, last_error as error from rotation_policies order by id',
      )
      const paused = rows.filter(({ status }) => status === 'paused')
      expect(paused.map(({ id }) => id)).toEqual(['half', 'my-newer', 'newer'])
      for (const { next, error } of paused)
        expect([next, error]).toEqual([
          null,
          'another policy rotates the same account: delete one of the two, then resume',
        ])
      const active = rows.filter(({ status }) => status === 'active')
      expect(active.map(({ id }) => id)).toEqual(['elsewhere', 'my-older', 'my-other', 'older'])
      for (const { next, error } of active) expect([next === null, error]).toEqual([false, null])
    })

    test('each account belongs to one policy, however its server is spelled', async () => {
      const rows = await db.rows(
        'select server, account, rotation_id as policy from rotation_accounts order by server, account',
      )
      expect(rows).toEqual([
        { server: 'mysql my.example.com:5432', account: 'app@%', policy: 'my-other' },
        { server: 'mysql my.example.com:5432', account: 'app@web.internal', policy: 'my-older' },
        { server: 'postgres db.example.com:5432', account: 'app', policy: 'older' },
        { server: 'postgres db.example.com:5432', account: 'app_b', policy: 'older' },
        { server: 'postgres db.example.com:5432', account: 'free', policy: 'half' },
        { server: 'postgres other.example.com:5432', account: 'app', policy: 'elsewhere' },
      ])
    })

    test('the latest lease keeps the account name, and the other leases are revoked with a reason', async () => {
      const rows = await db.rows(
        'select id, status, last_error as error, next_try_at is null as rests from leases order by id',
      )
      expect(rows).toEqual([
        { id: 'ended', status: 'expired', error: null, rests: false },
        {
          id: 'no-target',
          status: 'revoked',
          error: 'the target was deleted: the account may still be there',
          rests: true,
        },
        { id: 'other-target', status: 'active', error: null, rests: false },
        {
          id: 'same-first',
          status: 'revoked',
          error: 'a later lease of the target had the same account name',
          rests: true,
        },
        { id: 'same-second', status: 'revoking', error: null, rests: false },
      ])
    })

    test('the later migrations of this release apply to these rows, too', async () => {
      await migrate(db)
      expect(await db.rows('select count(*)::int as count from rotation_policies')).toEqual([{ count: 7 }])
    })
  })
}

/** The columns that the migration reads from the table of the former queue library. */
const oldQueue = `
  create table jobs.job (
    id uuid primary key, name text not null, data jsonb, group_id text, state text not null, retry_count integer not null,
    start_after timestamptz not null, created_on timestamptz not null, source_name text, source_created_on timestamptz,
    source_retry_count integer, source_output jsonb)`

for (const engine of engines) {
  describe.skipIf(engine.missing)(`0036 on ${engine.name}`, () => {
    let running: RunningEngine
    let db: Database
    const insert = (minute: number, row: { name: string; state: string; data?: object; key?: string; from?: string }) =>
      db.rows(
        `insert into jobs.job (id, name, data, group_id, state, retry_count, start_after, created_on, source_name,
                               source_created_on, source_retry_count, source_output)
         values (gen_random_uuid(), $1, $2, $3, $4, 2, $5, $5, $6::text, $5, 3, '{"error":"TypeError"}')`,
        [
          row.name,
          row.data ? JSON.stringify(row.data) : null,
          row.key ?? null,
          row.state,
          at(minute),
          row.from ?? null,
        ],
      )
    beforeAll(async () => {
      running = await engine.start()
      db = await running.open()
      await migrateUntil(db, 35)
      await db.script(oldQueue)
      await insert(1, { name: 'mail', state: 'created', data: { to: 'ada@example.com' } })
      await insert(2, { name: 'leases.end', state: 'retry', data: { targetId: 'tgt_1' }, key: 'tgt_1' })
      await insert(3, { name: 'leases.end', state: 'active', data: { targetId: 'tgt_2' }, key: 'tgt_2' })
      await insert(4, { name: 'mail', state: 'completed', data: {} })
      await insert(5, { name: 'invalidations.sweep', state: 'created' })
      await insert(6, { name: '__pgboss__send-it', state: 'created', data: {} })
      await insert(7, { name: 'dead_letters', state: 'created', data: { to: 'bob@example.com' }, from: 'mail' })
      await migrate(db)
    })
    afterAll(() => running?.stop())

    test('jobs that were waiting or interrupted wait in the new queue, with their key and attempts', async () => {
      const rows = await db.rows(
        `select name, data, key, attempts, due_at from jobs where state = 'waiting' order by number`,
      )
      expect(rows).toEqual([
        { name: 'mail', data: { to: 'ada@example.com' }, key: null, attempts: 2, dueAt: at(1) },
        { name: 'leases.end', data: { targetId: 'tgt_1' }, key: 'tgt_1', attempts: 2, dueAt: at(2) },
        { name: 'leases.end', data: { targetId: 'tgt_2' }, key: 'tgt_2', attempts: 2, dueAt: at(3) },
        { name: 'invalidations.sweep', data: {}, key: null, attempts: 2, dueAt: at(5) },
      ])
    })

    test('jobs that failed for good are kept with their last error, and the schema of the library is dropped', async () => {
      expect(await listDeadLetters(db)).toMatchObject([
        { job: 'mail', data: { to: 'bob@example.com' }, attempts: 4, error: { error: 'TypeError' }, failedAt: at(7) },
      ])
      expect(await db.row(`select 1 from pg_namespace where nspname = 'jobs'`)).toBeUndefined()
    })
  })
}

for (const engine of engines) {
  describe.skipIf(engine.missing)(`0037 on ${engine.name}`, () => {
    let running: RunningEngine
    let db: Database
    beforeEach(async () => {
      running = await engine.start()
      db = await running.open()
      await migrateUntil(db, 36)
    })
    afterEach(() => running?.stop())
    const hasSchema = async () => (await db.row(`select 1 from pg_namespace where nspname = 'jobs'`)) !== undefined

    test('applies to a database on which an earlier text of 0036 was applied', async () => {
      await db.rows('update schema_migrations set sha256 = $1 where number = 36', [
        '087758d6293f0c04348e16c6d79cee766e820062687a14675722036887e37efc',
      ])
      await db.script('drop schema jobs')
      await migrate(db)
      expect(await findSchemaFault(db)).toBeNull()
    })

    test('drops the schema of the former queue if it was never used', async () => {
      expect(await hasSchema()).toBe(true)
      await migrate(db)
      expect(await hasSchema()).toBe(false)
    })

    test('keeps a schema with the same name that another program uses', async () => {
      await db.script('create table jobs.theirs (id integer); insert into jobs.theirs values (1)')
      await migrate(db)
      expect(await db.rows('select id from jobs.theirs')).toEqual([{ id: 1 }])
    })
  })
}
