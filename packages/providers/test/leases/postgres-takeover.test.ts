import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { missingPostgres } from '../../../server/test/services/postgres.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { loadRotation } from '../../src/rotation/registry.ts'
import { testOutbound } from '../outbound.ts'
import { mintFor } from './mint.ts'
import { type PostgresScene, postgresScene } from './postgres-scene.ts'

const skip = missingPostgres()

/** More functions than the locks of the scene's server. */
const manyFunctions = 4000

const mayConnect = 'GRANT CONNECT ON DATABASE "{{database}}" TO "{{roleName}}"'

/** Records the role with whose rights it runs. */
const body = 'BEGIN INSERT INTO public.called VALUES (current_user); RETURN NULL; END'

/** Returns the statements that the driver sends while `work` runs. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const spy = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    return spy.mock.calls.map(([first]) => (typeof first === 'string' ? first : (first as { text: string }).text))
  } finally {
    spy.mockRestore()
  }
}

const keyword = /^(?:IN|AND|NOT|OR|EXISTS|coalesce|ANY|ON|FROM|SELECT|WHERE|OPERATOR|LATERAL|CASE|ARRAY)$/i

/** Returns the calls, operators and casts of a statement that do not name their schema. */
function unqualified(statement: string): string[] {
  const text = statement
    .replace(/'[^']*'/g, "''")
    .replace(/OPERATOR\(pg_catalog\.[^)]*\)/g, '')
    .replace(/SET \w+ = [^;]*/g, '')
  const calls = [...text.matchAll(/([\w.]+) ?\(/g)].map(([, name]) => name!)
  return [
    ...calls.filter((name) => !keyword.test(name) && !name.startsWith('pg_catalog.')),
    ...(text.match(/(?: (?:[-=<>~|]+|I?LIKE|IN|BETWEEN) (?!ROLE|SCHEMA)|::(?!pg_catalog\.)).*/g) ?? []),
  ]
}

describe.skipIf(skip !== undefined)('a lease of PostgreSQL that may create objects', () => {
  let scene: PostgresScene
  const outbound = testOutbound()
  const open = (config: object = {}) => {
    const target = scene.target('readonly')
    return openLeaseTarget('postgres', { ...target, config: { ...target.config, ...config } as never }, outbound)
  }
  beforeAll(async () => {
    scene = await postgresScene()
    // The default of PostgreSQL 14, which a database keeps in an upgrade.
    await scene.root.query('GRANT ALL ON SCHEMA public TO PUBLIC; CREATE TABLE public.called (by name)')
    await scene.root.query('GRANT INSERT ON public.called TO PUBLIC')
  })
  afterAll(() => scene?.stop())
  beforeEach(() => scene.root.query('TRUNCATE public.called'))
  const holderOf = async (user: string, password: string) => {
    const client = new pg.Client({ host: '127.0.0.1', port: scene.port, database: 'shop', user, password })
    client.on('error', () => {})
    onTestFinished(() => client.end())
    await client.connect()
    return client
  }
  const called = async () => (await scene.root.query('SELECT DISTINCT by FROM public.called')).rows

  it('cannot make the admin call its functions and operators', async () => {
    const { lease, ref, name, secret } = mintFor('postgres')
    const session = await open()
    await session.create(lease)
    const client = await holderOf(name, secret)
    const define = (signature: string, returns: string) =>
      client.query(`CREATE FUNCTION public.${signature} RETURNS ${returns} LANGUAGE plpgsql AS $$${body}$$`)
    // Each is a closer match than PostgreSQL's own for the argument types of a literal, a name or an oid.
    await define('pg_terminate_backend(integer, integer)', 'boolean')
    await define('hashtextextended(text, integer)', 'bigint')
    await define('pg_has_role(oid, text)', 'boolean')
    await define('has_schema_privilege(text, oid, text)', 'boolean')
    await define('has_database_privilege(text, name, text)', 'boolean')
    await define('has_table_privilege(oid, oid, text)', 'boolean')
    await define('format(text, name, name)', 'text')
    await define('shobj_description(oid, text)', 'text')
    await define('current_setting(unknown_text)'.replace('unknown_text', 'varchar'), 'text')
    await define('starts_with(text, varchar)', 'boolean')
    await define('same(name, varchar)', 'boolean')
    await client.query('CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = varchar, FUNCTION = public.same)')
    // A setting of the account applies before the session's own setting.
    await scene.root.query('ALTER ROLE skerry_admin SET search_path = public, pg_catalog')
    const later = await open({ schema: 'public' })
    await later.verify()
    await later.create(mintFor('postgres').lease)
    await later.list()
    await later.revoke(ref)
    const rotation = await loadRotation('postgres')
    const account = { target: scene.target('readonly'), username: 'app', config: { kind: 'postgres', username: 'app' } }
    await expect(rotation.verify(account as never, outbound)).rejects.toMatchObject({ reason: 'missing' })
    await scene.root.query('ALTER ROLE skerry_admin RESET search_path')
    expect(await called()).toEqual([])
    expect(await scene.exists(name)).toBe(false)
  })

  it('finds the schema at each function, operator and type in the statements of the admin', async () => {
    const { lease, ref, name } = mintFor('postgres')
    const session = await open({ schema: 'public' })
    const begun = await statementsOf(async () => {
      await session.verify()
      await session.create(lease)
      await session.list()
    })
    await scene.root.query(`SET ROLE ${name}; CREATE TABLE public.mine (id int); RESET ROLE`)
    const ended = await statementsOf(() => session.revoke(ref))
    expect([begun.length > 4, ended.length > 10]).toEqual([true, true])
    for (const statement of [...begun, ...ended]) expect(unqualified(statement)).toEqual([])
  })

  it('leaves nothing that runs with its rights or the admin’s: its objects are dropped or get an owner without rights', async () => {
    const { root } = scene
    const { lease, ref, name } = mintFor('postgres')
    const session = await open()
    await session.create(lease)
    await root.query(`SET ROLE ${name};
      CREATE FUNCTION public.give_rights() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'GRANT skerry_admin TO PUBLIC';
      CREATE FUNCTION public."Odd ""name"(int) RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
      CREATE FUNCTION public.plain(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
      CREATE TABLE public.trap (id int); CREATE INDEX ON public.trap (public.plain(id));
      CREATE VIEW public.peek AS SELECT * FROM public.called;
      CREATE FUNCTION public.on_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN NEW; END';
      RESET ROLE;
      CREATE TRIGGER planted BEFORE INSERT ON public.called FOR EACH ROW EXECUTE FUNCTION public.on_write()`)
    const removal = await session.revoke(ref)
    expect(removal).toEqual({
      dropped: ['function public."Odd ""name"(integer)', 'function public.give_rights()'],
      reassigned: expect.arrayContaining([
        'function public.plain(integer)',
        'table public.trap',
        'view public.peek',
        'function public.on_write() (other objects depend on it)',
      ]),
      problem: null,
    })
    expect(await scene.exists(name)).toBe(false)
    const { rows } = await root.query(
      `SELECT DISTINCT r.rolname, r.rolcanlogin, r.rolsuper, r.rolcreaterole,
         (SELECT count(*)::int FROM pg_auth_members m WHERE m.member = r.oid) AS memberships,
         has_schema_privilege(r.oid, 'app', 'CREATE') AS creates
       FROM (SELECT proowner AS owner FROM pg_proc WHERE proname IN ('plain', 'on_write')
         UNION SELECT relowner FROM pg_class WHERE relname IN ('trap', 'peek')) o JOIN pg_roles r ON r.oid = o.owner`,
    )
    expect(rows).toEqual([
      {
        rolname: expect.stringMatching(/^skerry_objects_/),
        rolcanlogin: false,
        rolsuper: false,
        rolcreaterole: false,
        memberships: 0,
        creates: false,
      },
    ])
    await root.query('DROP TRIGGER planted ON public.called')
  })

  it('has its functions moved to an owner that may not create in their schema and gets no such right', async () => {
    const { root } = scene
    const { lease, ref, name } = mintFor('postgres')
    const session = await open()
    await session.create(lease)
    await root.query(`GRANT USAGE, CREATE ON SCHEMA app TO ${name}; SET ROLE ${name};
      CREATE FUNCTION app.of_lease() RETURNS int LANGUAGE sql AS 'SELECT 1'; RESET ROLE`)
    await expect(session.revoke(ref)).resolves.toMatchObject({ reassigned: ['function app.of_lease()'], problem: null })
    const { rows } = await root.query(
      `SELECT r.rolname AS owner, has_schema_privilege(r.oid, 'app', 'CREATE') AS creates
       FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner WHERE p.proname = 'of_lease'`,
    )
    expect(rows).toEqual([{ owner: expect.stringMatching(/^skerry_objects_/), creates: false }])
  })

  it('is not ended while the role that takes its objects is able to sign in', async () => {
    const { root } = scene
    const [first, second] = [mintFor('postgres'), mintFor('postgres')]
    const session = await open()
    for (const { lease } of [first, second]) await session.create(lease)
    for (const { name } of [first, second])
      await root.query(`SET ROLE ${name}; CREATE TABLE public.of_${name} (id int); RESET ROLE`)
    await session.revoke(first.ref)
    const { rows } = await root.query(`SELECT rolname FROM pg_roles WHERE rolname LIKE 'skerry\\_objects%'`)
    await root.query(`ALTER ROLE ${rows[0].rolname} LOGIN`)
    await expect(session.revoke(second.ref)).rejects.toMatchObject({
      message: expect.stringContaining('must not be able to sign in'),
    })
    await root.query(`ALTER ROLE ${rows[0].rolname} NOLOGIN`)
    await session.revoke(second.ref)
    expect(await scene.exists(second.name)).toBe(false)
  })

  it('cannot interfere with the statements of its target: they find only PostgreSQL’s functions, and their settings do not last', async () => {
    await scene.root.query(`CREATE FUNCTION public.lower(varchar) RETURNS text LANGUAGE plpgsql AS $$${body}$$`)
    const { lease, ref } = mintFor('postgres')
    const session = await open({
      accessLevel: 'custom',
      createStatements: [
        `SELECT lower('A'::varchar)`,
        `CREATE ROLE "{{roleName}}" LOGIN PASSWORD '{{verifier}}'`,
        'SET search_path = public, pg_catalog',
      ],
      revokeStatements: [`SELECT lower('A'::varchar)`],
    })
    await session.create(lease)
    await session.revoke(ref)
    expect(await called()).toEqual([])
    await scene.root.query('DROP FUNCTION public.lower(varchar)')
  })

  it.each(['CREATEROLE', 'IN ROLE maker'])('is refused if its statements allow it to create roles: %s', async (how) => {
    await scene.root.query('DROP ROLE IF EXISTS maker; CREATE ROLE maker CREATEROLE')
    const { lease, name } = mintFor('postgres')
    const createStatements = [`CREATE ROLE "{{roleName}}" LOGIN PASSWORD '{{verifier}}' ${how}`]
    const session = await open({ accessLevel: 'custom', createStatements })
    await expect(session.create(lease)).rejects.toMatchObject({ message: expect.stringMatching(/CREATEROLE/) })
    expect(await scene.exists(name)).toBe(false)
  })

  it('cannot remove its mark', async () => {
    const { lease, ref, name } = mintFor('postgres')
    const session = await open()
    await session.create(lease)
    await expect(scene.root.query(`SET ROLE ${name}; COMMENT ON ROLE ${name} IS 'mine'`)).rejects.toThrow(/CREATEROLE/)
    await scene.root.query('RESET ROLE')
    await scene.root.query(`SET ROLE ${name}; ALTER ROLE ${name} PASSWORD 'another'; RESET ROLE`)
    await session.revoke(ref)
    expect(await scene.exists(name)).toBe(false)
  })

  it.each(['ALTER ROLE {name} PASSWORD NULL', 'GRANT {name} TO skerry_admin'])(
    'ends even if its holder keeps its role locked: %s',
    async (lock) => {
      const { root } = scene
      const { lease, ref, name, secret } = mintFor('postgres')
      const patient = Object.assign(testOutbound(), { statementMs: 4000 })
      const session = await openLeaseTarget('postgres', scene.target('readonly'), patient)
      await session.create(lease)
      const holder = await holderOf(name, secret)
      const ended = new Promise<void>((resolve) => holder.once('end', resolve))
      // PostgreSQL 14 lets every role grant itself. Later versions allow that only to a role that may create roles.
      await root.query(`ALTER ROLE ${name} CREATEROLE`)
      await holder.query('BEGIN')
      if (lock.startsWith('GRANT')) await holder.query(lock.replace('{name}', name))
      await root.query(`ALTER ROLE ${name} NOCREATEROLE`)
      if (lock.startsWith('ALTER')) await holder.query(lock.replace('{name}', name))
      expect((await session.revoke(ref)).problem).toBe(null)
      await ended
      expect(await scene.exists(name)).toBe(false)
      const { rows } = await root.query(`SELECT pg_has_role('skerry_admin', 'pg_signal_backend', 'MEMBER') AS kept`)
      expect(rows).toEqual([{ kept: false }])
    },
  )

  it('ends even if its holder signs in again and again to lock its role', async () => {
    const { lease, ref, name, secret } = mintFor('postgres')
    const session = await open()
    await session.create(lease)
    let locked = 0
    let isOver = false
    onTestFinished(async () => {
      isOver = true
      await scene.root.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`)
    })
    const attack = async () => {
      while (!isOver) {
        const client = new pg.Client({
          host: '127.0.0.1',
          port: scene.port,
          database: 'shop',
          user: name,
          password: secret,
        })
        const ended = new Promise<void>((resolve) => client.once('end', resolve))
        client.on('error', () => {})
        try {
          await client.connect()
        } catch (error) {
          if (/not permitted to log in|authentication failed/.test(String(error))) return
          continue
        }
        await client
          .query(`BEGIN; ALTER ROLE ${name} PASSWORD '${secret}'`)
          .then(() => locked++)
          .catch(() => {})
        await ended
      }
    }
    const attacks = Promise.all(Array.from({ length: 8 }, attack))
    await expect.poll(() => locked).toBeGreaterThan(0)
    await session.revoke(ref)
    await attacks
    expect(await scene.exists(name)).toBe(false)
  })

  it('cannot block other leases with advisory locks', async () => {
    const { root } = scene
    const brief = Object.assign(testOutbound(), { statementMs: 2000 })
    const session = await openLeaseTarget('postgres', scene.target('readonly'), brief)
    const [first, next] = [mintFor('postgres'), mintFor('postgres')]
    await session.create(first.lease)
    const holder = await holderOf(first.name, first.secret)
    const { rows } = await root.query(`SELECT rolname AS name FROM pg_roles WHERE rolname LIKE 'skerry\\_readonly%'`)
    const objects = `skerry_objects_${createHash('sha256').update('skerry_admin').digest('hex').slice(0, 16)}`
    for (const name of [...rows.map((row) => row.name), objects])
      await holder.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name])
    // The level must be set up again, and the end of another lease has objects to move.
    for (const { name } of rows) await root.query(`REVOKE SELECT ON app.notes FROM ${name}`)
    await session.create(next.lease)
    await root.query(`SET ROLE ${next.name}; CREATE TABLE public.of_next (id int); RESET ROLE`)
    expect(await session.revoke(next.ref)).toMatchObject({ reassigned: ['table public.of_next'], problem: null })
    await session.revoke(first.ref)
  })

  it('has its objects moved and its role dropped in one transaction', async () => {
    const { lease, ref, name } = mintFor('postgres')
    const session = await open()
    await session.create(lease)
    await scene.root.query(`SET ROLE ${name}; CREATE TABLE public.in_one (id int); RESET ROLE`)
    const statements = await statementsOf(() => session.revoke(ref))
    const at = (start: string) => statements.findIndex((statement) => statement.startsWith(start))
    const [reassign, drop] = [at('REASSIGN OWNED'), at(`DROP ROLE IF EXISTS "${name}"`)]
    expect([reassign > 0, drop > reassign]).toEqual([true, true])
    expect(statements.slice(reassign, drop).filter((statement) => /^(COMMIT|BEGIN)/.test(statement))).toEqual([])
  })

  it.each([
    ['twenty if the target sets none', {}, 20],
    ['that of the target', { maxConnections: 2 }, 2],
    [
      'that of the target if its own statements set none',
      {
        accessLevel: 'custom',
        createStatements: [`CREATE ROLE "{{roleName}}" LOGIN PASSWORD '{{verifier}}'`, mayConnect],
        maxConnections: 3,
      },
      3,
    ],
    [
      'that of its own statements',
      {
        accessLevel: 'custom',
        createStatements: [`CREATE ROLE "{{roleName}}" LOGIN PASSWORD '{{verifier}}' CONNECTION LIMIT 1`, mayConnect],
      },
      1,
    ],
  ] as const)('has a limit of connections: %s', async (_, config, limit) => {
    const { lease, ref, name, secret } = mintFor('postgres')
    const session = await open(config)
    await session.create(lease)
    for (let count = 0; count < limit; count++) await holderOf(name, secret)
    await expect(holderOf(name, secret)).rejects.toThrow('too many connections for role')
    await session.revoke(ref)
    expect(await scene.exists(name)).toBe(false)
  })

  it('has no rights left through its functions, even while they cannot be dropped', async () => {
    const { root } = scene
    const { lease, ref, name } = mintFor('postgres')
    const session = await open()
    await session.create(lease)
    await root.query(`SET ROLE ${name};
      CREATE FUNCTION public.read_notes() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM app.notes';
      RESET ROLE`)
    await root.query('SELECT public.read_notes()')
    // A transaction of somebody else keeps the function from being dropped.
    const other = await scene.rootOf('shop')
    onTestFinished(() => other.end())
    await other.query('BEGIN; ALTER FUNCTION public.read_notes() COST 2')
    const outbound = Object.assign(testOutbound(), { statementMs: 1000 })
    const brief = await openLeaseTarget('postgres', scene.target('readonly'), outbound)
    await expect(brief.revoke(ref)).rejects.toBeInstanceOf(Error)
    await expect(root.query('SELECT public.read_notes()')).rejects.toThrow(/permission denied/)
    await other.query('ROLLBACK')
    await session.revoke(ref)
    expect(await scene.exists(name)).toBe(false)
  })

  it('leaves no function, even if there are more than one transaction can drop', async () => {
    const { root } = scene
    const { lease, ref, name } = mintFor('postgres')
    const session = await open()
    await session.create(lease)
    await root.query(`SET ROLE ${name};
      DO $do$ BEGIN FOR i IN 1..${manyFunctions} LOOP
        EXECUTE format('CREATE FUNCTION public.one_of_many_%s() RETURNS int LANGUAGE sql SECURITY DEFINER AS $f$ SELECT 1 $f$', i);
      END LOOP; END $do$; RESET ROLE`)
    const { dropped, problem } = await session.revoke(ref)
    expect([dropped.at(-1), problem]).toEqual([expect.stringMatching(/^and \d+ more$/), null])
    const { rowCount } = await root.query(`SELECT FROM pg_proc WHERE proname LIKE 'one\\_of\\_many%'`)
    expect([rowCount, await scene.exists(name)]).toEqual([0, false])
  })
})
