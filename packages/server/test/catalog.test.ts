import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sql } from '../src/db/database.ts'
import { orderSections } from '../src/features/archive.ts'
import { listLayers } from '../src/features/resolve/store.ts'
import { features } from '../src/features.ts'
import { findServiceToken } from '../src/identity/store.ts'
import type { Principal } from '../src/kernel/principal.ts'
import { tablesOf } from './state.ts'
import { openWorld, type World } from './world.ts'

/** Tables without a non-null org_id, each with the reason. */
const notOfOneTenant: Record<string, string> = {
  organizations: 'is the tenant: its id is the org_id of all others',
  users: 'a person may be in several organizations',
  cli_login_requests: 'nobody stands behind it until a person approves',
  cli_sessions: 'acts for a person, who may be in several organizations',
  cli_session_uses: 'acts for a person, who may be in several organizations',
  passkeys: 'a person may be in several organizations',
  recovery_kits: 'a person may be in several organizations',
  notification_preferences: 'a person may be in several organizations',
  audit_entries: 'org_id is null for what concerns a person outside of any organization',
  schema_migrations: 'is about the schema',
  signing_keys: 'is the server’s own',
  set_up_links: 'is the server’s own',
  attempts: 'counts tries, mostly of callers who are not known yet',
  identity_links: 'is about a person, who may be in several organizations',
  magic_links: 'is for an address, which may belong to nobody here yet',
  challenges: 'may be for someone who is not known yet',
  sessions: 'belongs to a person, who may be in several organizations',
  refresh_tokens: 'belongs to a session',
  totp_factors: 'belongs to a person, who may be in several organizations',
  recovery_codes: 'belongs to a person, who may be in several organizations',
  audit_sealing: 'is about all trails together',
  jobs: 'a job may be about the whole server',
  export_signing_keys: 'is the server’s own',
  promo_codes: 'is the operator’s, for any organization',
  billing_events: 'is taken before it is known whose it is',
  sign_in_passkeys: 'belongs to a person, who may be in several organizations',
}

/** Unique indexes without org_id, with the reason why one tenant may notice that another has the value. */
const uniqueAcrossTenants: Record<string, string> = {
  organizations_pkey: 'is the tenant',
  organizations_slug: 'slugs of organizations are public names',
  users_pkey: 'a person may be in several organizations',
  users_subject: 'a person may be in several organizations',
  schema_migrations_pkey: 'is about the schema',
  cli_login_requests_pkey: 'made by the server, and looked up before the person is known',
  cli_login_requests_session: 'chosen by clients, 131 random bits',
  cli_login_requests_hash: 'looked up by what a caller presents, before the person is known',
  cli_sessions_pkey: 'chosen by clients, 131 random bits',
  cli_sessions_hash: 'looked up by what a caller presents, before the person is known',
  cli_session_uses_pkey: 'belongs to a session',
  promo_codes_pkey: 'is the operator’s, for any organization',
  billing_events_pkey: 'made by the payment provider, and looked up before the tenant is known',
  org_plans_subscription: 'made by the payment provider, and looked up before the tenant is known',
  passkeys_pkey: 'belongs to a person',
  recovery_kits_pkey: 'leads with the person',
  passkeys_credential: 'belongs to a person',
  notification_preferences_pkey: 'belongs to a person',
  machine_clients_id: 'looked up by what a caller presents, before the tenant is known',
  machine_tokens_pkey: 'looked up by what a caller presents, before the tenant is known',
  service_tokens_id: 'chosen by clients, 131 random bits, and names a caller everywhere',
  service_tokens_hash: 'looked up by what a caller presents, before the tenant is known',
  environments_id: 'resolve names the environment alone',
  signing_keys_pkey: 'is the server’s own',
  set_up_links_pkey: 'is the server’s own',
  attempts_pkey: 'a hash of who tries',
  identity_links_pkey: 'looked up by what a caller presents',
  magic_links_pkey: 'looked up by what a caller presents',
  challenges_pkey: 'random, and given to one browser',
  sessions_pkey: 'random, and belongs to a person',
  refresh_tokens_pkey: 'looked up by what a caller presents',
  totp_factors_pkey: 'one to a person',
  recovery_codes_pkey: 'leads with the person',
  audit_sealing_pkey: 'is about all trails together',
  jobs_pkey: 'made by the server: random, or a hash of random ids',
  jobs_active_key: 'keys are ids, which the server made',
  export_signing_keys_pkey: 'is the server’s own',
  sign_in_passkeys_pkey: 'random, and belongs to a person',
  vault_keys_hash: 'looked up by what a caller presents, before the tenant is known',
  vault_registration_codes_hash: 'looked up by what a caller presents, before the tenant is known',
  vault_executors_hash: 'looked up by what a caller presents, before the tenant is known',
  vault_sessions_token: 'looked up by what a caller presents, before the tenant is known',
  vault_sessions_claim: 'looked up by what a caller presents, before the tenant is known',
  sign_in_passkeys_credential: 'looked up by what a caller presents, before the person is known',
}

/** Tables that resolve reads and that need no trigger of their own, each with the reason. */
const changesWithAnother: Record<string, string> = {
  organizations: 'resolve shows id and slug, which never change',
}

interface ForeignKey {
  name: string
  from: string
  to: string
  columns: string[]
  targets: string[]
}

interface Index {
  name: string
  table: string
  columns: string[]
  isUnique: boolean
}

let world: World
let db: Sql
let tables: string[]

beforeAll(async () => {
  world = await openWorld()
  db = world.server.context.db
  tables = await tablesOf(world)
})
afterAll(() => world.close())

const names = (relation: string, numbers: string) =>
  `(select array_agg(a.attname::text order by n.place)
      from unnest(${numbers}) with ordinality as n(number, place)
      join pg_attribute a on a.attrelid = ${relation} and a.attnum = n.number)`

const foreignKeys = () =>
  db.rows<ForeignKey>(
    `select c.conname::text as name, c.conrelid::regclass::text as "from", c.confrelid::regclass::text as "to",
            ${names('c.conrelid', 'c.conkey')} as columns, ${names('c.confrelid', 'c.confkey')} as targets
       from pg_constraint c
      where c.contype = 'f' and c.connamespace = 'public'::regnamespace order by 1`,
  )

const indexes = () =>
  db.rows<Index>(
    `select i.indexrelid::regclass::text as name, i.indrelid::regclass::text as "table", i.indisunique as is_unique,
            ${names('i.indrelid', 'i.indkey::int2[]')} as columns
       from pg_index i join pg_class t on t.oid = i.indrelid
      where t.relnamespace = 'public'::regnamespace and not t.relispartition order by 1`,
  )

/** Lists the enabled triggers that call these functions, as `table event level`. */
async function triggers(functionPattern: string): Promise<string[]> {
  const rows = await db.rows<{ name: string; type: number }>(
    `select tgrelid::regclass::text as name, tgtype as type from pg_trigger
      where tgfoid::regproc::text ~ $1 and tgenabled in ('O', 'A') order by 1`,
    [functionPattern],
  )
  const events = { 4: 'insert', 8: 'delete', 16: 'update', 32: 'truncate' }
  return rows.flatMap(({ name, type }) =>
    Object.entries(events)
      .filter(([bit]) => (type & Number(bit)) !== 0)
      .map(([, event]) => `${name} ${event} ${type & 1 ? 'row' : 'statement'}`),
  )
}

describe('tenants', () => {
  test('every table has a non-null org_id, or is listed with the reason why not', async () => {
    const withOrg = await db.rows<{ name: string }>(
      `select attrelid::regclass::text as name from pg_attribute where attname = 'org_id' and attnotnull`,
    )
    const of = new Set(withOrg.map((row) => row.name))
    expect(tables.length).toBeGreaterThan(15)
    expect(tables.filter((table) => !of.has(table)).sort()).toEqual(Object.keys(notOfOneTenant).sort())
  })

  test('every foreign key between tables of tenants includes org_id, so that no row points into another tenant', async () => {
    const keys = await foreignKeys()
    const between = keys.filter((key) => !(key.from in notOfOneTenant || key.to in notOfOneTenant))
    expect(between.length).toBeGreaterThan(8)
    for (const { name, columns, targets } of between)
      expect([name, columns[0], targets[0]]).toEqual([name, 'org_id', 'org_id'])
    for (const { name, columns } of keys.filter((key) => key.to === 'organizations'))
      expect([name, columns]).toEqual([name, ['org_id']])
  })

  test('every index that contains org_id starts with it, so that a tenant’s rows lie together', async () => {
    const keyed = (await indexes()).filter(({ columns }) => columns.includes('org_id'))
    expect(keyed.length).toBeGreaterThan(15)
    expect(keyed.filter(({ columns }) => columns[0] !== 'org_id')).toEqual([])
  })

  test('every primary key and unique index contains org_id, or is listed with the reason why not', async () => {
    const unique = (await indexes()).filter((index) => index.isUnique && !index.columns.includes('org_id'))
    expect(unique.map((index) => index.name).sort()).toEqual(Object.keys(uniqueAcrossTenants).sort())
  })

  test('every table has a primary key, except the two to which rows are only appended', async () => {
    const primary = await db.rows<{ name: string }>(
      `select conrelid::regclass::text as name from pg_constraint where contype = 'p'`,
    )
    const keyed = new Set(primary.map((row) => row.name))
    expect(tables.filter((table) => !keyed.has(table))).toEqual(['audit_entries', 'cache_invalidations'])
  })

  test('every foreign key has an index on its own columns, so that a deletion does not read whole tables', async () => {
    const all = await indexes()
    const bare = (await foreignKeys()).filter(
      ({ from, columns }) =>
        !all.some((index) => index.table === from && columns.every((column, place) => index.columns[place] === column)),
    )
    expect(bare.map((key) => `${key.from} (${key.columns.join(', ')})`)).toEqual([])
  })
})

describe('the resolve cache', () => {
  test('is notified of every change to every table that resolve reads', async () => {
    const read = await tablesReadByResolve()
    expect(read.length).toBeGreaterThan(8)
    const needed = read.filter((table) => !(table in changesWithAnother))
    const heard = (await triggers('^record_(secret|org)_(change|write)$')).map((line) =>
      line.replace(/ (statement|row)$/, ''),
    )
    for (const table of needed)
      for (const event of ['insert', 'update', 'delete']) expect(heard).toContain(`${table} ${event}`)
    expect(Object.keys(changesWithAnother).filter((table) => !read.includes(table))).toEqual([])
  })
})

/** Reads the table names from the query plans, so that it also finds tables behind views and CTEs. */
async function tablesReadByResolve(): Promise<string[]> {
  const asked = { environmentId: 'env_a', branch: 'b', groups: ['g'], slugs: ['s'], now: new Date().toISOString() }
  const token = { type: 'service_token', id: 'skt_a', orgId: 'org_a' } as Principal
  const user = { type: 'user', id: 'usr_a' } as Principal
  const read = new Set<string>()
  const explaining: Sql = {
    async rows(text, values) {
      const [row] = await db.rows<Record<string, unknown>>(`explain (format json) ${text}`, values)
      for (const [, name] of JSON.stringify(row).matchAll(/"Relation Name":"(\w+)"/g)) read.add(name as string)
      return []
    },
    async row(text, values) {
      await this.rows(text, values)
      return undefined
    },
    foreign: () => Promise.reject(new Error('resolve uses no library’s SQL')),
  }
  await listLayers(explaining, { ...asked, principal: token })
  await listLayers(explaining, { ...asked, principal: user })
  await findServiceToken(explaining, 'hash')
  return [...read].sort()
}

describe('the audit log', () => {
  test('gets one partition per month, even if several servers create it at once', async () => {
    const make = () => db.rows(`select create_audit_partition('2032-07-15')`)
    await Promise.all([make(), make(), make(), make(), make()])
    const made = await db.row<{ name: string }>(`select to_regclass('audit_entries_2032_07')::text as name`)
    expect(made?.name).toBe('audit_entries_2032_07')
  })

  test('has triggers that refuse changes to the table and to every partition, including those of future months', async () => {
    await db.rows(`select create_audit_partition('2031-05-01')`)
    const partitions = await db.rows<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_entries'::regclass`,
    )
    expect(partitions.map((row) => row.name)).toContain('audit_entries_2031_05')
    // Archived entries may be deleted. archiving.test.ts shows that no other entry can be.
    const refused = [...(await triggers('^refuse_change$')), ...(await triggers('^refuse_unarchived$'))]
    for (const { name } of [{ name: 'audit_entries' }, ...partitions])
      expect(refused).toEqual(
        expect.arrayContaining([`${name} update row`, `${name} delete row`, `${name} truncate statement`]),
      )
  })
})

test('every table and column of an organization is in its archive, or left out with a reason', async () => {
  const columns = await world.server.context.db.rows<{ table: string; name: string }>(
    `select c.table_name as table, c.column_name as name from information_schema.columns c
       join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
      where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
        and c.table_name in (select table_name from information_schema.columns where column_name = 'org_id')
        and c.table_name !~ '^audit_entries'`,
  )
  const named = (list: string) => list.split(',').map((name) => name.trim())
  const archived = new Map(
    orderSections(features).map(({ table, columns, withheld = {} }) => [
      table,
      new Set([...named(columns), ...Object.keys(withheld)]),
    ]),
  )
  const withheldTables = features.flatMap(({ archive }) => ('withheld' in archive ? Object.keys(archive.withheld) : []))
  const missing = columns.filter(({ table, name }) => {
    if (withheldTables.includes(table)) return archived.has(table)
    if (name === 'org_id') return !archived.has(table)
    return !archived.get(table)?.has(name)
  })
  expect(missing).toEqual([])
})
