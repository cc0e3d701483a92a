import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Connection, type ConnectionOptions, createConnection } from 'mysql2/promise'
import { freePort } from '../../../server/test/services/free-port.ts'
import { certificateFor } from '../services/certificate.ts'
import { findBinary, folderFor, missing, runAs, startDaemon } from '../services/process.ts'
import type { Scene } from './conformance.ts'
import type { Blockable } from './stuck.ts'

export const missingMariadb = () => missing(['mariadbd', 'mariadb-install-db'], 'mariadb-server')

export interface MysqlScene extends Scene<'mysql'>, Blockable {
  root: Connection
  /** Changes the password as the holder of the account, who may do so at any time. */
  setOwnPassword(name: string, secret: string, next: string): Promise<void>
}

/** MariaDB with an admin account as docs/leases/mysql.md requires it. */
export async function mariadbScene(): Promise<MysqlScene> {
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
  const newRoot = () => createConnection({ socketPath: `${folder.path}/s`, user: 'root' })
  const root = await newRoot()
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
    async block() {
      const holder = await newRoot()
      await holder.query('FLUSH TABLES WITH READ LOCK')
      return () => holder.end()
    },
    async waiting() {
      const [rows] = await root.query(
        `SELECT 1 FROM information_schema.processlist WHERE state LIKE 'Waiting for%lock'`,
      )
      return (rows as unknown[]).length
    },
    async setOwnPassword(name, secret, next) {
      const client = await createConnection({ ...address, user: name, password: secret })
      await client.query(`SET PASSWORD = PASSWORD('${next}')`)
      await client.end()
    },
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
    async endHalf(name) {
      await root.query(`ALTER USER ${name}@'%' ACCOUNT LOCK`)
    },
    async stop() {
      await root.end()
      await daemon.stop()
      folder.remove()
    },
  }
}
