import { type Connection, createConnection } from 'mysql2/promise'
import { expect, it, onTestFinished } from 'vitest'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutbound } from '../outbound.ts'
import { databaseConformance } from './conformance.ts'
import { mysqlFake } from './mysql-fake.ts'
import { mariadbScene, missingMariadb } from './mysql-scene.ts'
import { patienceMs, stuckStatements } from './stuck.ts'

const skip = missingMariadb()

databaseConformance('mysql', skip, mariadbScene, ({ scene, open, mint }) => {
  const stuck = stuckStatements('mysql', { scene, mint })

  // MySQL has no limit for all statements, and MariaDB has none that works for every statement.
  it('if the server does not end a statement in time, the adapter stops waiting and ends it', async () => {
    const { session, outbound } = await stuck.open(patienceMs.long)
    const { lease, name } = mint()
    await stuck.block()
    outbound.answerMs = patienceMs.ample
    await expect(session.create(lease)).rejects.toMatchObject({ reason: 'unreachable' })
    expect(await scene().waiting()).toBe(0)
    await stuck.unblock()
    expect(await scene().exists(name)).toBe(false)
  })

  it('a statement that another session left behind is ended when its lease is ended', async () => {
    const { session } = await stuck.open(patienceMs.long)
    const [left, other] = [mint(), mint()]
    await stuck.block()
    const refused = expect(session.create(left.lease)).rejects.toBeInstanceOf(Error)
    await expect.poll(() => scene().waiting()).toBe(1)
    const later = await open()
    await later.revoke(other.ref)
    expect(await scene().waiting()).toBe(1)
    await later.revoke(left.ref)
    expect(await scene().waiting()).toBe(0)
    await refused
    await stuck.unblock()
    expect(await scene().exists(left.name)).toBe(false)
  })

  const holderOf = async (name: string, secret: string) => {
    const { host, port } = { ...scene().target('readonly').config.connection, host: '127.0.0.1' }
    const holder = await createConnection({ host, port, user: name, password: secret })
    holder.on('error', () => {})
    return holder
  }

  it('a lease ends even if its holder has changed the password', async () => {
    const { lease, name, secret, ref } = mint()
    const session = await open()
    await session.create(lease)
    const holder = await holderOf(name, secret)
    await holder.query(`SET PASSWORD = PASSWORD('another')`)
    await expect(holder.query(`REVOKE '${lease.id}' FROM CURRENT_USER`)).rejects.toThrow(/denied/)
    await session.revoke(ref)
    expect(await scene().exists(name)).toBe(false)
    const [roles] = await scene().root.query('SELECT 1 FROM mysql.user WHERE User = ?', [lease.id])
    expect(roles).toEqual([])
  })

  it('a holder who names leases in long statements cannot keep any of them', async () => {
    const session = await open({ maxConnections: 100 })
    const [one, other] = [mint(), mint()]
    for (const { lease } of [one, other]) await session.create(lease)
    const idle: Connection[] = []
    for (let count = 0; count < 60; count++)
      for (const { name, secret } of [one, other]) idle.push(await holderOf(name, secret))
    // Every 30 ms, one of them starts a statement that names both leases.
    let begun = 0
    const attack = setInterval(() => {
      idle[begun++]?.query(`SELECT SLEEP(50) /* ${one.lease.id} ${other.lease.id} */`).catch(() => {})
    }, 30)
    onTestFinished(() => {
      clearInterval(attack)
      for (const holder of idle) holder.destroy()
    })
    await expect.poll(() => begun).toBeGreaterThan(2)
    await session.revoke(one.ref)
    expect(await scene().exists(one.name)).toBe(false)
    expect(await scene().exists(other.name)).toBe(true)
    await session.revoke(other.ref)
    expect(await scene().exists(other.name)).toBe(false)
  })

  it('long statements of holders are not read when another lease ends', async () => {
    const { outbound } = await stuck.open(patienceMs.long)
    const session = await openLeaseTarget('mysql', scene().target('readonly'), outbound)
    const [long, other] = [mint(), mint()]
    for (const { lease } of [long, other]) await session.create(lease)
    const holder = await holderOf(long.name, long.secret)
    const bytes = 8 * 1024 * 1024
    holder.query(`SELECT SLEEP(50) /* ${'x'.repeat(bytes)} */`).catch(() => {})
    const running = () =>
      scene().root.query(`SELECT 1 FROM information_schema.processlist WHERE INFO LIKE 'SELECT SLEEP(50) /* x%'`)
    await expect.poll(async () => ((await running())[0] as unknown[]).length).toBe(1)
    const read = () => [...outbound.sockets].reduce((sum, socket) => sum + socket.bytesRead, 0)
    const before = read()
    await session.revoke(other.ref)
    expect(before).toBeGreaterThan(0)
    expect(read() - before).toBeLessThan(100_000)
    await session.revoke(long.ref)
    expect(await scene().exists(long.name)).toBe(false)
  })

  it('a host in upper case matches the host that the server stores', async () => {
    const { lease, name, ref } = mint()
    const session = await open({ userHost: 'Client.Example' })
    await session.create(lease)
    const [rows] = await scene().root.query('SELECT Host FROM mysql.user WHERE User = ?', [name])
    expect(rows).toEqual([{ Host: 'client.example' }])
    await session.revoke(ref)
    expect(await scene().exists(name)).toBe(false)
  })

  it('a holder cannot sign in before the account carries its mark', async () => {
    const { root } = scene()
    const { lease, name, secret, ref } = mint()
    const session = await open()
    // Only the administrator of a role can grant it, so the mark cannot be set here.
    await root.query(`CREATE ROLE '${lease.id}'`)
    await expect(session.create(lease)).rejects.toBeInstanceOf(Error)
    await expect(scene().signIn(name, secret)).rejects.toThrow()
    expect(await scene().exists(name)).toBe(false)
    await session.revoke(ref)
  })

  it.each([
    ['twenty if the target sets none', {}, 20],
    ['that of the target', { maxConnections: 2 }, 2],
    ['that of the target if its own statements set none', { accessLevel: 'custom', maxConnections: 3 }, 3],
    ['that of its own statements', { accessLevel: 'custom', with: 'WITH MAX_USER_CONNECTIONS 1' }, 1],
  ])(
    'a lease has a limit of connections: %s',
    async (_, { with: own = '', ...config }: Record<string, unknown>, limit) => {
      const create = `CREATE USER '{{roleName}}'@'{{userHost}}' IDENTIFIED VIA mysql_native_password USING '{{verifier}}' ${own}`
      const custom = config.accessLevel === 'custom' ? { createStatements: [create] } : {}
      const session = await open({ ...config, ...custom })
      const { lease, name, secret, ref } = mint()
      await session.create(lease)
      for (let count = 0; count < limit; count++) await holderOf(name, secret)
      await expect(holderOf(name, secret)).rejects.toThrow('max_user_connections')
      await session.revoke(ref)
      expect(await scene().exists(name)).toBe(false)
    },
  )

  it('an account with the mark of another lease is refused as foreign', async () => {
    const [one, other] = [mint(), mint()]
    const session = await open()
    await session.create(one.lease)
    await expect(session.revoke({ ...other.ref, resourceRef: one.name })).rejects.toMatchObject({ reason: 'foreign' })
    await session.revoke(one.ref)
  })

  it('objects that run with the rights of a lease are dropped with the lease', async () => {
    const { root } = scene()
    await root.query('GRANT DROP, ALTER ROUTINE, TRIGGER, EVENT ON `my\\_shop`.* TO skerry_admin')
    const create = `CREATE USER '{{roleName}}'@'{{userHost}}' IDENTIFIED VIA mysql_native_password USING '{{verifier}}'`
    const session = await open({ accessLevel: 'custom', createStatements: [create] })
    expect((await session.verify()).notes).toEqual([])
    const { lease, name, secret, ref } = mint()
    await session.create(lease)
    await root.query(`GRANT SELECT, INSERT, CREATE VIEW, CREATE ROUTINE, TRIGGER, EVENT ON my_shop.* TO \`${name}\``)
    const holder = await holderOf(name, secret)
    for (const statement of [
      'CREATE VIEW my_shop.`peek``it` AS SELECT * FROM my_shop.notes',
      'CREATE SQL SECURITY INVOKER VIEW my_shop.harmless AS SELECT 1',
      'CREATE PROCEDURE my_shop.act() SELECT 1',
      'CREATE FUNCTION my_shop.answer() RETURNS int DETERMINISTIC RETURN 1',
      'CREATE TRIGGER my_shop.noticed BEFORE INSERT ON my_shop.notes FOR EACH ROW SET NEW.text = NEW.text',
      'CREATE EVENT my_shop.later ON SCHEDULE EVERY 1 DAY DO SELECT 1',
    ])
      await holder.query(statement)
    const { dropped, reassigned, problem } = await session.revoke(ref)
    expect(dropped.toSorted()).toEqual([
      'event my_shop.later',
      'function my_shop.answer',
      'procedure my_shop.act',
      'trigger my_shop.noticed',
      'view my_shop.peek`it',
    ])
    expect([reassigned, problem, await scene().exists(name)]).toEqual([[], null, false])
    await root.query('DROP VIEW my_shop.harmless')
    await root.query('REVOKE DROP, ALTER ROUTINE, TRIGGER, EVENT ON `my\\_shop`.* FROM skerry_admin')
    const { notes } = await (await open({ accessLevel: 'custom', createStatements: [create] })).verify()
    expect(notes).toEqual([expect.stringMatching(/lacks DROP, ALTER ROUTINE, TRIGGER, EVENT on my_shop/)])
  })

  it('a name is refused if objects that it would lend its rights to already exist', async () => {
    const { root } = scene()
    const { lease, name } = mint()
    await root.query(`CREATE DEFINER='${name}'@'%' VIEW my_shop.left_behind AS SELECT 1`)
    await expect((await open()).create(lease)).rejects.toMatchObject({
      reason: 'exists',
      message: expect.stringMatching(/view my_shop\.left_behind would run with the rights/),
    })
    await root.query('DROP VIEW my_shop.left_behind')
  })

  it('an admin without a password signs in if its account has none', async () => {
    const { root } = scene()
    const { config, credential } = scene().target('readonly')
    await root.query(`CREATE USER skerry_open@'%' IDENTIFIED BY ''`)
    await root.query(`GRANT ALL ON *.* TO skerry_open@'%' WITH GRANT OPTION`)
    const open = { config, credential: credential.replace('skerry_admin:adminpassword', 'skerry_open') }
    const session = await openLeaseTarget('mysql', open, testOutbound())
    await session.create(mint().lease)
    await session.close()
    await root.query(`DROP USER skerry_open@'%'`)
  })

  it('a grant is for one database, whose name is not used as a pattern', async () => {
    const { root } = scene()
    await root.query('CREATE DATABASE myXshop')
    const { lease, name } = mint()
    await (await open()).create(lease)
    const [rows] = await root.query('SELECT Db FROM mysql.db WHERE User = ?', [name])
    expect(rows).toEqual([{ Db: 'my\\_shop' }])
  })

  it('the notes warn about anonymous accounts, which come before leases', async () => {
    const { root } = scene()
    await root.query(`CREATE USER ''@'localhost'`)
    const { notes } = await (await open()).verify()
    await root.query(`DROP USER ''@'localhost'`)
    expect(notes).toEqual([expect.stringContaining('anonymous account')])
  })

  it('a custom level creates what its statements say, and a failure in the middle leaves nothing', async () => {
    const create = `CREATE USER '{{roleName}}'@'{{userHost}}' IDENTIFIED VIA mysql_native_password USING '{{verifier}}'`
    const grant = 'GRANT SELECT ON my_shop.notes TO `{{roleName}}`@`{{userHost}}`'
    const { lease, name, secret, ref } = mint()
    const failing = await open({
      accessLevel: 'custom',
      createStatements: [create, 'GRANT SELECT ON no.where TO nobody'],
    })
    await expect(failing.create(lease)).rejects.toBeInstanceOf(Error)
    expect(await scene().exists(name)).toBe(false)
    const session = await open({
      accessLevel: 'custom',
      createStatements: [create, grant.replace('my_shop', '{{database}}')],
    })
    await session.create(lease)
    const client = await scene().signIn(name, secret)
    await client.read()
    await expect(client.write()).rejects.toThrow()
    await session.revoke(ref)
    await client.ended
  })

  it('a revocation that failed after one of its own statements is completed by the next try', async () => {
    const { root } = scene()
    await root.query('CREATE TABLE my_shop.ended (name varchar(100))')
    const create = `CREATE USER '{{roleName}}'@'{{userHost}}' IDENTIFIED VIA mysql_native_password USING '{{verifier}}'`
    const session = await open({
      accessLevel: 'custom',
      createStatements: [create],
      revokeStatements: [`INSERT INTO my_shop.ended VALUES ('{{roleName}}')`, 'DELETE FROM my_shop.later'],
    })
    const { lease, name, secret, ref } = mint()
    await session.create(lease)
    await expect(session.revoke(ref)).rejects.toMatchObject({
      reason: 'failed',
      message: expect.stringMatching(/doesn't exist/),
    })
    await expect(scene().signIn(name, secret)).rejects.toThrow(/locked/)
    await root.query('CREATE TABLE my_shop.later (id int)')
    await session.revoke(ref)
    expect(await scene().exists(name)).toBe(false)
    expect((await root.query('SELECT name FROM my_shop.ended'))[0]).toEqual([{ name }, { name }])
  })

  it.each([{ userHost: `%' --` }, { userHost: '' }, { connection: { host: 'h', port: 1, database: 'a`b' } }])(
    'the config %j is refused',
    async (config) => {
      await expect(open(config as Parameters<typeof open>[0])).rejects.toMatchObject({ reason: 'invalid' })
    },
  )
})

// MySQL itself is not in Debian, so the driver’s own server plays its answers.
it.each([
  [
    '8.4.3',
    null,
    /^MySQL 8\.4\.3: mysql_native_password is not loaded; start the server with --mysql-native-password=ON$/,
  ],
  ['9.1.0', null, /^MySQL 9\.1\.0: this version no longer has mysql_native_password/],
  ['5.7.44', 'ACTIVE', /^MySQL 5\.7\.44: versions before 8\.0\.21/],
  ['5.5.5-10.4.34-MariaDB', 'ACTIVE', /^MariaDB 10\.4\.34: versions before 10\.5/],
])('a server of version %s with the plugin %s is refused with the reason', async (version, plugin, why) => {
  const fake = await mysqlFake({ version, plugin })
  const connection = { host: '127.0.0.1', port: fake.port, database: 'shop', tls: 'disable' } as const
  const session = await openLeaseTarget(
    'mysql',
    {
      config: { provider: 'mysql', executor: 'in_broker', connection, accessLevel: 'readonly', userHost: '%' },
      credential: `mysql://skerry_admin:adminpassword@127.0.0.1:${fake.port}/shop`,
    },
    testOutbound(),
  )
  await expect(session.verify()).rejects.toMatchObject({ reason: 'unsupported', message: expect.stringMatching(why) })
  await session.close()
  await fake.stop()
})
