import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { leases } from '@skerry/contract/leases/endpoints'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wrappedForBroker } from '../../../test/lease-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { missingPostgres, startPostgres } from '../../../test/services/postgres.ts'
import { startMailServer } from '../../../test/services/smtp.ts'
import { mailsWritten, newEntries } from '../../../test/state.ts'
import { newMember } from '../../../test/tenant.ts'
import { endDue } from './ending.ts'

const mails = await startMailServer()
afterAll(() => mails.close())
const { world, tenant } = await openTenant({
  SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  SKERRY_SMTP_URL: mails.url,
  SKERRY_BASE_URL: 'https://skerry.example',
})
const { orgId } = tenant
const { as } = tenant.admin
const { context } = world.server

/** The verifier that a client sends instead of its password (RFC 5802, in the format of PostgreSQL). */
function scramVerifier(password: string): string {
  const [salt, iterations] = [randomBytes(16), 4096]
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`
}

interface Scene {
  url: URL
  root: pg.Client
  stop: () => Promise<void>
}

async function openDatabase(): Promise<Scene> {
  const dir = await mkdtemp(join(tmpdir(), 'skerry-leases-'))
  await chmod(dir, 0o755)
  const hba = join(dir, 'pg_hba.conf')
  await writeFile(hba, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n')
  const server = (await startPostgres({ fsync: false, settings: { hba_file: hba } }))!
  const url = new URL(await server.createDatabase('shop'))
  const root = new pg.Client(url.href)
  await root.connect()
  await root.query(`CREATE ROLE skerry_admin LOGIN CREATEROLE PASSWORD 'adminpassword';
    GRANT ALL ON DATABASE shop TO skerry_admin WITH GRANT OPTION;
    CREATE SCHEMA app AUTHORIZATION skerry_admin; SET ROLE skerry_admin;
    CREATE TABLE app.notes (id serial PRIMARY KEY, text text); RESET ROLE`)
  return {
    url,
    root,
    stop: async () => {
      await root.end()
      await server.dispose()
      await rm(dir, { recursive: true })
    },
  }
}

describe.skipIf(missingPostgres())('a lease of PostgreSQL', () => {
  let scene: Scene
  let targetId: string
  let connection: { host: string; port: number; database: string }
  beforeAll(async () => {
    scene = await openDatabase()
    const port = Number(scene.url.port)
    connection = { host: '127.0.0.1', port, database: 'shop' }
    const config = { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'app' }
    const credential = `postgres://skerry_admin:adminpassword@127.0.0.1:${port}/shop`
    const body = { name: 'shop', config, wrappedAdminSecret: await wrappedForBroker(world, tenant, credential) }
    const answer = await world.call(leases.createTarget, { as, params: { orgId }, body })
    expect(answer.error).toBeUndefined()
    expect(answer.body.target).toMatchObject({ status: 'ready', server: expect.stringMatching(/^PostgreSQL \d/) })
    targetId = answer.body.target.id
  })
  afterAll(() => scene.stop())

  const mint = (roleName: string, password: string, more: object = {}) =>
    world.call(leases.create, {
      as,
      params: { orgId },
      body: { provider: 'postgres', targetId, roleName, verifier: scramVerifier(password), ttlSeconds: 600, ...more },
    })
  const revoke = (leaseId: string) => world.call(leases.revoke, { as, params: { orgId, leaseId } })
  const read = async (leaseId: string) => (await world.call(leases.get, { as, params: { orgId, leaseId } })).body.lease
  const exists = async (name: string) =>
    (await scene.root.query('SELECT FROM pg_roles WHERE rolname = $1', [name])).rowCount === 1
  async function signIn(user: string, password: string) {
    const client = new pg.Client({ ...connection, user, password })
    const ended = new Promise<void>((resolve) => client.once('end', resolve))
    client.on('error', () => {})
    await client.connect()
    return { client, ended }
  }

  test('signs in with the password that only its client knows, and its session ends when it is revoked', async () => {
    const { status, body } = await mint('reader', 'a long password of the client')
    expect([status, body.connection]).toEqual([
      201,
      { ...connection, username: 'reader', expiresAt: body.lease.expiresAt },
    ])
    const { client, ended } = await signIn('reader', 'a long password of the client')
    await client.query('SELECT * FROM app.notes')
    await expect(client.query(`INSERT INTO app.notes (text) VALUES ('x')`)).rejects.toThrow('permission denied')
    expect((await revoke(body.lease.id)).body.lease.status).toBe('revoked')
    await ended
    expect(await exists('reader')).toBe(false)
  })

  test('with the name of an existing account is refused, and that account does not change', async () => {
    await scene.root.query('CREATE ROLE billing')
    const answer = await mint('billing', 'whatever')
    expect([answer.status, answer.error?.message]).toEqual([409, expect.stringMatching(/^target: .*exists/)])
    expect(await exists('billing')).toBe(true)
    const [last] = (await world.call(leases.list, { as, params: { orgId }, query: { limit: 1 } })).body.leases
    expect(last?.status).toBe('failed')
  })

  test.each([
    ['a plaintext password', { verifier: 'secret' }],
    ['an MD5 hash', { verifier: 'md53175bce1d3201d16594cebf9d7eb3f9d' }],
    ['a verifier with another key length', { verifier: scramVerifier('x').replace(/:[^:]*$/, ':AAAA') }],
    ['a name that could leave its quotes', { roleName: 'x"; DROP ROLE postgres; --' }],
    ['the name of the admin account', { roleName: 'skerry_admin' }],
    ['a name of PostgreSQL’s own', { roleName: 'pg_reader' }],
  ])('with %s is refused, and no account is made', async (_, more) => {
    const before = (await scene.root.query('SELECT count(*) FROM pg_roles')).rows
    expect((await mint('fine', 'x', more)).status).toBe(400)
    expect((await scene.root.query('SELECT count(*) FROM pg_roles')).rows).toEqual(before)
  })

  test('is removed from the target if a crash interrupted it after its account was made', async () => {
    const { body } = await mint('half_made', 'x')
    await context.db.rows(`update leases set status = 'creating' where id = $1`, [body.lease.id])
    world.clock.advance(91)
    await endDue(context, orgId, targetId)
    expect([(await read(body.lease.id)).status, await exists('half_made')]).toEqual(['failed', false])
  })

  test('that never made its account leaves a foreign account of the same name alone, and reports it', async () => {
    const { body } = await mint('taken_later', 'x')
    await scene.root.query('DROP ROLE taken_later')
    await scene.root.query(`CREATE ROLE taken_later LOGIN PASSWORD 'of somebody else'`)
    await context.db.rows(`update leases set status = 'creating' where id = $1`, [body.lease.id])
    world.clock.advance(91)
    await endDue(context, orgId, targetId)
    const lease = await read(body.lease.id)
    expect([lease.status, lease.lastError, await exists('taken_later')]).toEqual([
      'revoking',
      'target: the role taken_later does not belong to this lease',
      true,
    ])
    await scene.root.query('DROP ROLE taken_later')
    world.clock.advance(20)
    await endDue(context, orgId, targetId)
    expect((await read(body.lease.id)).status).toBe('failed')
  })

  test('whose account looks foreign stays in the ledger until an admin has repaired it', async () => {
    const { body } = await mint('renamed_mark', 'x', { ttlSeconds: 60 })
    await scene.root.query(`COMMENT ON ROLE renamed_mark IS 'somebody was here'`)
    world.clock.advance(61)
    await endDue(context, orgId, targetId)
    const { status, lastError } = await read(body.lease.id)
    expect([status, lastError]).toEqual(['revoking', expect.stringContaining('does not belong to this lease')])
    await scene.root.query(`COMMENT ON ROLE renamed_mark IS 'skerry lease ${body.lease.id}'`)
    world.clock.advance(20)
    await endDue(context, orgId, targetId)
    expect([(await read(body.lease.id)).status, await exists('renamed_mark')]).toEqual(['expired', false])
  })

  test('gets one audit entry that names the objects that were dropped or reassigned', async () => {
    const { body } = await mint('builder', 'x')
    await scene.root.query(`GRANT ALL ON SCHEMA app TO builder; SET ROLE builder; CREATE TABLE app.built (id int);
      CREATE FUNCTION app.elevated() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; RESET ROLE;
      CREATE TABLE app.of_root (id int); GRANT SELECT ON app.of_root TO builder`)
    const entries = await newEntries(world, () => revoke(body.lease.id))
    expect(entries.map(({ action }) => action)).toEqual(['lease.revoked', 'lease.cleaned_up'])
    expect(entries[1]).toMatchObject({
      actorType: 'system',
      resourceId: body.lease.id,
      metadata: {
        targetId,
        resourceRef: 'builder',
        dropped: ['function app.elevated()'],
        reassigned: ['table app.built'],
      },
    })
    // A grant by another owner keeps the role for now. The audit entry names the objects all the same.
    expect((await read(body.lease.id)).lastError).toMatch(/depend on it/)
    await scene.root.query('DROP TABLE app.of_root')
    world.clock.advance(20)
    expect(await newEntries(world, () => endDue(context, orgId, targetId))).toEqual([])
    expect([(await read(body.lease.id)).status, await exists('builder')]).toEqual(['revoked', false])
  })

  test('is revoked once its target answers again, and the ledger says revoking until then', async () => {
    const { body } = await mint('outlasts', 'x')
    const { id } = body.lease
    await scene.root.query(`ALTER ROLE skerry_admin NOLOGIN`)
    const first = await revoke(id)
    expect([first.status, first.body.lease.status, first.body.lease.lastError]).toEqual([
      200,
      'revoking',
      expect.stringMatching(/^target: /),
    ])
    await scene.root.query(`ALTER ROLE skerry_admin LOGIN`)
    world.clock.advance(10)
    await endDue(context, orgId, targetId)
    expect([(await read(id)).status, await exists('outlasts')]).toEqual(['revoked', false])
  })

  test('that cannot be removed within a day is orphaned, with a mail to the admins, and can be forgotten', async () => {
    await newMember(world, tenant, 'admin', { email: 'leases@example.com' })
    const { body } = await mint('stays', 'x')
    const { id } = body.lease
    await scene.root.query(`ALTER ROLE skerry_admin NOLOGIN`)
    await revoke(id)
    world.clock.advance(24 * 3600 + 60)
    await endDue(context, orgId, targetId)
    expect((await read(id)).status).toBe('orphaned')
    await mailsWritten(world)
    const told = mails.received.filter(({ to }) => to.includes('leases@example.com'))
    const subject = 'Subject: The account of a lease could not be removed in'
    expect(told.filter(({ source }) => source.includes(subject))).toHaveLength(1)
    await scene.root.query(`ALTER ROLE skerry_admin LOGIN`)
    const forgotten = await world.call(leases.forget, { as, params: { orgId, leaseId: id } })
    expect(forgotten.body.lease.lastError).toContain('may still be on the target')
  })

  test('that expires with others is removed with them, without a connection for each', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `batch_${index}`)
    for (const name of names) expect((await mint(name, 'x', { ttlSeconds: 60 })).status).toBe(201)
    world.clock.advance(61)
    const count = async () =>
      Number((await scene.root.query(`SELECT sessions FROM pg_stat_database WHERE datname = 'shop'`)).rows[0]?.sessions)
    await scene.root.query('SELECT pg_stat_force_next_flush()').catch(() => {})
    const before = await count()
    await endDue(context, orgId, targetId)
    const left = await scene.root.query(`SELECT rolname FROM pg_roles WHERE rolname LIKE 'batch%'`)
    expect(left.rows).toEqual([])
    expect((await count()) - before).toBeLessThanOrEqual(4)
  })

  test('leaves no trace of its password or of the admin’s in any row, log line or answer', async () => {
    await mint('canary', 'a-canary-password')
    const tables = await context.db.foreign<{ row: string }>(
      `select row_to_json(t)::text as row from lease_targets t union all select row_to_json(l)::text from leases l
       union all select row_to_json(j)::text from jobs j union all select row_to_json(a)::text from audit_entries a`,
    )
    const seen = [...tables.map(({ row }) => row), ...world.log, ...world.answers].join('\n')
    for (const secret of ['a-canary-password', 'adminpassword', 'SCRAM-SHA-256$']) expect(seen).not.toContain(secret)
  })
})
