import type pg from 'pg'
import { expect, it } from 'vitest'
import { missingPostgres } from '../../../server/test/services/postgres.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutbound } from '../outbound.ts'
import { databaseConformance } from './conformance.ts'
import { postgresScene } from './postgres-scene.ts'
import { stuckStatements } from './stuck.ts'

databaseConformance('postgres', missingPostgres(), postgresScene, ({ scene, open, mint }) => {
  stuckStatements('postgres', { scene, mint })

  it('a lease that owns a table in another database is ended, and the table stays', async () => {
    const { root, rootOf } = scene()
    await root.query('CREATE DATABASE elsewhere')
    const { lease, name, ref } = mint()
    const session = await open()
    await session.create(lease)
    const elsewhere = await rootOf('elsewhere')
    await elsewhere.query(`GRANT CREATE ON SCHEMA public TO PUBLIC; SET ROLE ${name}; CREATE TABLE theirs (id int)`)
    expect(await session.revoke(ref)).toEqual({
      dropped: [],
      reassigned: ['elsewhere: table public.theirs'],
      problem: null,
    })
    expect(await scene().exists(name)).toBe(false)
    const { rows } = await elsewhere
      .query(`RESET ROLE; SELECT tableowner FROM pg_tables WHERE tablename = 'theirs'`)
      .then((results) => (results as unknown as pg.QueryResult[])[1]!)
    await elsewhere.end()
    expect(rows).toEqual([{ tableowner: expect.stringMatching(/^skerry_objects_/) }])
  })

  it('a role stops working at the end of its lease, even if nobody removes it', async () => {
    const { lease, name, secret } = mint()
    await (await open()).create({ ...lease, expiresAt: new Date(Date.now() - 1000) })
    await expect(scene().signIn(name, secret)).rejects.toThrow(/password authentication failed/)
  })

  it('later tables can be used: those of the admin at once, those of others from the next lease on', async () => {
    const { root } = scene()
    const session = await open()
    const [first, second] = [mint(), mint()]
    await session.create(first.lease)
    const may = async (name: string, table: string) =>
      (await root.query('SELECT has_table_privilege($1, $2, $3) AS may', [name, table, 'SELECT'])).rows[0].may
    await root.query('SET ROLE skerry_admin; CREATE TABLE app.later (id int); RESET ROLE')
    expect(await may(first.name, 'app.later')).toBe(true)
    await root.query(`CREATE ROLE app_owner; GRANT app_owner TO skerry_admin; GRANT CREATE, USAGE ON SCHEMA app TO app_owner;
      SET ROLE app_owner; CREATE TABLE app.others (id int); RESET ROLE`)
    expect(await may(first.name, 'app.others')).toBe(false)
    await session.create(second.lease)
    expect(await may(second.name, 'app.others')).toBe(true)
  })

  it('leases that set up a level at the same time do not conflict', async () => {
    await scene().root.query('CREATE SCHEMA fresh AUTHORIZATION skerry_admin')
    const sessions = await Promise.all(Array.from({ length: 6 }, () => open({ schema: 'fresh' })))
    await Promise.all(sessions.map((session) => session.create(mint().lease)))
  })

  it('a lease appears in no access list of a table', async () => {
    const { root } = scene()
    const { lease, name } = mint()
    await (await open()).create(lease)
    const { rows } = await root.query(
      `SELECT count(*)::int AS n FROM pg_class WHERE relacl::text LIKE '%' || $1 || '%'`,
      [name],
    )
    expect(rows).toEqual([{ n: 0 }])
  })

  it('the notes say which tables leases cannot use, and what else they can do', async () => {
    const { root } = scene()
    await root.query(`CREATE TABLE app.of_root (id int); GRANT CREATE ON SCHEMA app TO PUBLIC`)
    const { notes } = await (await open()).verify()
    await root.query('DROP TABLE app.of_root; REVOKE CREATE ON SCHEMA app FROM PUBLIC')
    expect(notes).toEqual([
      expect.stringContaining('1 tables or views'),
      expect.stringContaining('Every account, also of a lease, can create tables in schema'),
    ])
    await expect((await open({ schema: 'missing' })).verify()).rejects.toMatchObject({ reason: 'missing' })
  })

  const custom = (createStatements: string[], revokeStatements: string[] = []) =>
    open({ accessLevel: 'custom', createStatements, revokeStatements })
  const create = `CREATE ROLE "{{roleName}}" LOGIN PASSWORD '{{verifier}}'`

  it('a custom level creates what its statements say, and removes it again', async () => {
    const { root } = scene()
    await root.query(`SET ROLE skerry_admin; CREATE TABLE app.log (name text); RESET ROLE`)
    const session = await custom(
      [
        create,
        'GRANT USAGE ON SCHEMA "{{schema}}" TO "{{roleName}}"',
        'GRANT SELECT ON app.notes TO "{{roleName}}"',
        'GRANT CONNECT ON DATABASE "{{database}}" TO "{{roleName}}"',
      ],
      [`INSERT INTO app.log VALUES ('{{roleName}}')`],
    )
    const { lease, name, secret, ref } = mint()
    await session.create(lease)
    const { rows } = await root.query('SELECT rolvaliduntil AS until FROM pg_roles WHERE rolname = $1', [name])
    expect(rows).toEqual([{ until: lease.expiresAt }])
    const client = await scene().signIn(name, secret)
    await client.read()
    await expect(client.write()).rejects.toThrow()
    await session.revoke(ref)
    await client.ended
    expect((await root.query('SELECT name FROM app.log')).rows).toEqual([{ name }])
    expect(await scene().exists(name)).toBe(false)
  })

  it('a statement may contain JSON that ends in two braces', async () => {
    const { root } = scene()
    await root.query('CREATE TABLE app.settings (value jsonb); ALTER TABLE app.settings OWNER TO skerry_admin')
    const value = `INSERT INTO app.settings VALUES ('{"lease":{"name":"{{roleName}}","more":{}}}')`
    const { lease, name } = mint()
    await (await custom([create, value])).create(lease)
    const { rows } = await root.query('SELECT value FROM app.settings')
    expect(rows).toEqual([{ value: { lease: { name, more: {} } } }])
  })

  it('an admin without a password signs in if the server needs none, and gets an error if it needs one', async () => {
    const { port } = scene()
    const target = scene().target('readonly')
    const credential = `postgres://skerry_admin@localhost:${port}/shop`
    // The driver would use this instead of an empty password.
    process.env.PGPASSWORD = 'adminpassword'
    try {
      const refused = openLeaseTarget('postgres', { ...target, credential }, testOutbound())
      await expect(refused).rejects.toMatchObject({ reason: 'denied', message: expect.stringMatching(/has none/) })
    } finally {
      delete process.env.PGPASSWORD
    }
    await expect(
      openLeaseTarget('postgres', { ...target, credential: `postgres://localhost:${port}/shop` }, testOutbound()),
    ).rejects.toMatchObject({ reason: 'invalid', message: expect.stringMatching(/has no user name/) })
    // The server trusts only this account without a password.
    const session = await openLeaseTarget(
      'postgres',
      { ...target, credential: `postgres://postgres@localhost:${port}/shop` },
      testOutbound(),
    )
    await session.create(mint().lease)
    await session.close()
  })

  it('a revocation that failed at its last statement is completed by the next try', async () => {
    const { root } = scene()
    await root.query(`CREATE TABLE app.of_root (id int); CREATE TABLE app.ended (name text);
      ALTER TABLE app.ended OWNER TO skerry_admin`)
    const session = await custom([create], [`INSERT INTO app.ended VALUES ('{{roleName}}')`])
    const { lease, name, secret, ref } = mint()
    await session.create(lease)
    await root.query(`GRANT USAGE, CREATE ON SCHEMA app TO ${name}`)
    await root.query(`SET ROLE ${name}; CREATE TABLE app.theirs_too (id int); RESET ROLE`)
    // A grant by somebody else. Neither the admin account nor the lease can revoke it.
    await root.query(`GRANT SELECT ON app.of_root TO ${name}`)
    expect(await session.revoke(ref)).toEqual({
      dropped: [],
      reassigned: ['table app.theirs_too'],
      problem: expect.stringMatching(/depend on it/),
    })
    await expect(scene().signIn(name, secret)).rejects.toThrow(/not permitted to log in/)
    const owner = async () =>
      (await root.query(`SELECT tableowner AS owner FROM pg_tables WHERE tablename = 'theirs_too'`)).rows[0].owner
    expect(await owner()).toMatch(/^skerry_objects_/)
    await root.query(`REVOKE SELECT ON app.of_root FROM ${name}; DROP TABLE app.of_root`)
    await session.revoke(ref)
    expect(await scene().exists(name)).toBe(false)
    expect((await root.query('SELECT name FROM app.ended')).rows).toEqual([{ name }, { name }])
  })

  it('a custom level that fails in the middle leaves nothing, and changes no existing role', async () => {
    const { lease, name } = mint()
    const failing = await custom([create, 'GRANT SELECT ON app.nothing TO "{{roleName}}"'])
    await expect(failing.create(lease)).rejects.toMatchObject({ reason: 'failed' })
    expect(await scene().exists(name)).toBe(false)
    const useless = await custom([`SELECT '{{roleName}} {{verifier}}'`])
    await expect(useless.create(lease)).rejects.toMatchObject({ reason: 'invalid' })
    await scene().createForeign(name)
    const taking = await custom([`ALTER ROLE "{{roleName}}" PASSWORD '{{verifier}}'`])
    await expect(taking.create(lease)).rejects.toMatchObject({ reason: 'exists' })
  })

  it.each([
    [{ createStatements: ['CREATE ROLE {{name}} {{roleName}} {{verifier}}'] }, '{{name}} is no placeholder'],
    [{ createStatements: ['CREATE ROLE {{roleName}}'] }, '{{verifier}} is in none'],
    [{ createStatements: ['{{ roleName }} {{verifier}}'] }, 'is no placeholder'],
    [{ createStatements: ['{{roleName}} {{verifier}} {{'] }, '{{ without a placeholder'],
    [{}, 'needed for the level custom'],
    [{ accessLevel: 'readonly', createStatements: [create] }, 'only for the level custom'],
    [{ schema: 'app"; DROP SCHEMA app' }, 'schema'],
    [{ connection: { host: 'localhost', port: 5432, database: `shop' --` } }, 'database'],
    [{ connection: { host: 'a b', port: 5432, database: 'shop' } }, 'host'],
  ] as const)('the config %j is refused', async (config, why) => {
    const opened = open({ accessLevel: 'custom', ...config } as Parameters<typeof open>[0])
    await expect(opened).rejects.toMatchObject({ reason: 'invalid', message: expect.stringContaining(why) })
  })
})
