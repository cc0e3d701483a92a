import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Connection, type ConnectionOptions, createConnection } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { freePort } from '../../../server/test/services/free-port.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutside } from '../outside.ts'
import { certificateFor } from '../services/certificate.ts'
import { findBinary, folderFor, missing, runAs, startDaemon } from '../services/process.ts'
import { databaseConformance, type Scene } from './conformance.ts'
import { mysqlFake } from './mysql-fake.ts'

const skip = missing(['mariadbd', 'mariadb-install-db'], 'mariadb-server')

interface MysqlScene extends Scene<'mysql'> {
  root: Connection
}

/** MariaDB with an admin account as docs/leases.md asks for it. */
async function mariadbScene(): Promise<MysqlScene> {
  const user = runAs('mysql', 'nobody')
  const folder = folderFor(user, 'mariadb')
  const port = await freePort()
  const data = `${folder.path}/data`
  const { certFile, keyFile, pem } = certificateFor(user, folder)
  const common = ['--no-defaults', `--datadir=${data}`]
  await promisify(execFile)(
    findBinary('mariadb-install-db')!,
    [...common, '--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve'],
    { ...user, cwd: folder.path },
  )
  const daemon = await startDaemon(
    findBinary('mariadbd')!,
    [
      ...common,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${folder.path}/s`,
      `--pid-file=${folder.path}/pid`,
      '--innodb-buffer-pool-size=8M',
      '--innodb-flush-log-at-trx-commit=0',
      '--skip-name-resolve',
      `--ssl-cert=${certFile}`,
      `--ssl-key=${keyFile}`,
    ],
    { ready: /ready for connections/, user, cwd: folder.path },
  )
  const root = await createConnection({ socketPath: `${folder.path}/s`, user: 'root' })
  for (const statement of [
    'CREATE DATABASE my_shop',
    'CREATE TABLE my_shop.notes (id int PRIMARY KEY AUTO_INCREMENT, text varchar(100))',
    `CREATE USER skerry_admin@'%' IDENTIFIED BY 'adminpassword'`,
    `GRANT CREATE USER, PROCESS, CONNECTION ADMIN ON *.* TO skerry_admin@'%'`,
    `GRANT SELECT ON mysql.* TO skerry_admin@'%'`,
    'GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE, SHOW VIEW, CREATE TEMPORARY TABLES ON `my\\_shop`.*' +
      ` TO skerry_admin@'%' WITH GRANT OPTION`,
  ])
    await root.query(statement)
  const address = { host: '127.0.0.1', port, database: 'my_shop' }
  const connection = { ...address, host: 'localhost', tls: 'verify-full', caCertificate: pem } as const
  return {
    root,
    server: /^MariaDB \d+\.\d+/,
    target: (accessLevel) => ({
      config: { provider: 'mysql', executor: 'in_broker', connection, accessLevel, userHost: '%' },
      credential: `mysql://skerry_admin:adminpassword@localhost:${port}/my_shop`,
    }),
    async signIn(name, password) {
      const client = await createConnection({ ...address, user: name, password } satisfies ConnectionOptions)
      const ended = new Promise<void>((resolve) => client.on('error', () => resolve()))
      return {
        read: () => client.query('SELECT count(*) FROM notes'),
        write: () => client.query(`INSERT INTO notes (text) VALUES ('more')`),
        administer: () => client.query('CREATE TABLE mine (id int)'),
        ended,
        close: () => client.end(),
      }
    },
    async exists(name) {
      const [rows] = await root.query('SELECT 1 FROM mysql.user WHERE User = ?', [name])
      return (rows as unknown[]).length > 0
    },
    async createForeign(name) {
      await root.query(`CREATE USER ${name}@'%' IDENTIFIED BY 'theirs'`)
    },
    async createHalf({ roleName, verifier }) {
      await root.query(`CREATE USER ${roleName}@'%' IDENTIFIED WITH mysql_native_password AS '${verifier}'`)
    },
    async stop() {
      await root.end()
      await daemon.stop()
      folder.remove()
    },
  }
}

databaseConformance('mysql', skip, mariadbScene, ({ scene, open, mint }) => {
  it('a grant is for the one database, whose name is no pattern', async () => {
    const { root } = scene()
    await root.query('CREATE DATABASE myXshop')
    const { lease, name } = mint()
    await (await open()).create(lease)
    const [rows] = await root.query('SELECT Db FROM mysql.db WHERE User = ?', [name])
    expect(rows).toEqual([{ Db: 'my\\_shop' }])
  })

  it('warns of anonymous accounts, which come before leases', async () => {
    const { root } = scene()
    await root.query(`CREATE USER ''@'localhost'`)
    const { notes } = await (await open()).verify()
    await root.query(`DROP USER ''@'localhost'`)
    expect(notes).toEqual([expect.stringContaining('anonymous account')])
  })

  it('a custom level creates what its statements say, and what fails in the middle leaves nothing', async () => {
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

  it.each([{ userHost: `%' --` }, { userHost: '' }, { connection: { host: 'h', port: 1, database: 'a`b' } }])(
    'refuses the config %j',
    async (config) => {
      await expect(open(config as Parameters<typeof open>[0])).rejects.toMatchObject({ reason: 'invalid' })
    },
  )
})

// MySQL itself is not in Debian: what it answers is played by the driver’s own server.
it.each([
  [
    '8.4.3',
    null,
    /^MySQL 8\.4\.3: mysql_native_password is not loaded; start the server with --mysql-native-password=ON$/,
  ],
  ['9.1.0', null, /^MySQL 9\.1\.0: this version no longer has mysql_native_password/],
  ['5.7.44', 'ACTIVE', /^MySQL 5\.7\.44: versions before 8\.0/],
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
    testOutside(),
  )
  await expect(session.verify()).rejects.toMatchObject({ reason: 'unsupported', message: expect.stringMatching(why) })
  await session.close()
  await fake.stop()
})
