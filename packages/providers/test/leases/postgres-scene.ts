import { chmodSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { startPostgres } from '../../../server/test/services/postgres.ts'
import { certificateFor } from '../services/certificate.ts'
import { folderFor, runAs } from '../services/process.ts'
import type { Scene } from './conformance.ts'
import type { Blockable } from './stuck.ts'

export interface PostgresScene extends Scene<'postgres'>, Blockable {
  root: pg.Client
  port: number
  /** Connects a superuser to a database. */
  rootOf(database: string): Promise<pg.Client>
}

/**
 * PostgreSQL with an admin account as docs/leases/postgresql.md requires it: no superuser, but the owner of the objects
 * that leases use.
 */
export async function postgresScene(): Promise<PostgresScene> {
  const user = runAs('postgres', 'nobody')
  const folder = folderFor(user, 'postgres-tls')
  const hba = `${folder.path}/pg_hba.conf`
  // The tests check passwords, so only the suite itself signs in without one.
  writeFileSync(hba, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n')
  chmodSync(hba, 0o644)
  const { certFile, keyFile, pem } = certificateFor(user, folder)
  const tls = { ssl: 'on', ssl_cert_file: certFile, ssl_key_file: keyFile }
  // The smallest value, so that a test can use up all locks.
  const settings = { ...tls, hba_file: hba, max_locks_per_transaction: '10' }
  const server = (await startPostgres({ fsync: false, settings }))!
  const url = new URL(await server.createDatabase('shop'))
  const rootOf = async (database: string) => {
    const client = new pg.Client(new URL(`/${database}`, url).href)
    await client.connect()
    return client
  }
  const root = await rootOf('shop')
  await root.query(`CREATE ROLE skerry_admin LOGIN CREATEROLE PASSWORD 'adminpassword';
    GRANT ALL ON DATABASE shop TO skerry_admin WITH GRANT OPTION;
    REVOKE CONNECT ON DATABASE shop FROM PUBLIC;
    CREATE SCHEMA app AUTHORIZATION skerry_admin; SET ROLE skerry_admin;
    CREATE TABLE app.notes (id serial PRIMARY KEY, text text); INSERT INTO app.notes (text) VALUES ('one'); RESET ROLE`)
  const port = Number(url.port)
  const address = { host: '127.0.0.1', port, database: 'shop' }
  const connection = { ...address, host: 'localhost', tls: 'verify-full', caCertificate: pem } as const
  return {
    root,
    port,
    rootOf,
    async block() {
      const holder = await rootOf('shop')
      await holder.query('BEGIN; LOCK TABLE pg_authid IN SHARE MODE')
      return () => holder.end()
    },
    async waiting() {
      const waits = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'pg_authid'::regclass`
      return (await root.query(waits)).rowCount ?? 0
    },
    server: /^PostgreSQL \d+\.\d+/,
    target: (accessLevel) => ({
      config: { provider: 'postgres', executor: 'in_broker', connection, accessLevel, schema: 'app' },
      credential: `postgres://skerry_admin:adminpassword@localhost:${port}/shop`,
    }),
    async signIn(user, password) {
      const client = new pg.Client({ ...address, user, password })
      const ended = new Promise<void>((resolve) => client.once('end', resolve))
      client.on('error', () => {})
      await client.connect()
      return {
        read: () => client.query('SELECT count(*) FROM app.notes'),
        write: () => client.query(`INSERT INTO app.notes (text) VALUES ('more')`),
        administer: () => client.query('CREATE TABLE app.mine (id int)'),
        ended,
        close: () => client.end(),
      }
    },
    exists: async (name) => (await root.query('SELECT FROM pg_roles WHERE rolname = $1', [name])).rowCount === 1,
    async validUntil(name) {
      return (await root.query('SELECT rolvaliduntil AS until FROM pg_roles WHERE rolname = $1', [name])).rows[0].until
    },
    async createForeign(name) {
      await root.query(`CREATE ROLE ${name}`)
    },
    async createHalf({ id, roleName, verifier }) {
      await root.query(`SET ROLE skerry_admin; CREATE ROLE ${roleName} LOGIN PASSWORD '${verifier}';
        COMMENT ON ROLE ${roleName} IS 'skerry lease ${id}'; RESET ROLE`)
    },
    async endHalf(name) {
      await root.query(`ALTER ROLE ${name} NOLOGIN`)
    },
    async stop() {
      await root.end()
      await server.dispose()
      folder.remove()
    },
  }
}
