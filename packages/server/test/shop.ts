import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { leases } from '@skerry/contract/leases/endpoints'
import pg from 'pg'
import { wrappedForBroker } from './lease-steps.ts'
import { startPostgres } from './services/postgres.ts'
import type { Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** A customer's PostgreSQL, with accounts of an application and an account for Skerry that may change them. */
export interface Shop {
  root: pg.Client
  connection: { host: string; port: number; database: string }
  /** Whether the account can sign in with the password. */
  signsIn(user: string, password: string | undefined): Promise<boolean>
  stop(): Promise<void>
}

export const adminPassword = 'adminpassword'

export async function openShop(accounts: readonly string[]): Promise<Shop> {
  const dir = await mkdtemp(join(tmpdir(), 'skerry-shop-'))
  await chmod(dir, 0o755)
  const hba = join(dir, 'pg_hba.conf')
  await writeFile(hba, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n')
  const server = (await startPostgres({ fsync: false, settings: { hba_file: hba, max_connections: '60' } }))!
  const url = new URL(await server.createDatabase('shop'))
  const root = new pg.Client(url.href)
  await root.connect()
  await root.query(`CREATE ROLE skerry_admin LOGIN CREATEROLE PASSWORD '${adminPassword}';
    CREATE TABLE notes (id serial PRIMARY KEY, text text)`)
  const makesAdmin = (await root.query('SHOW server_version_num')).rows[0].server_version_num >= 160_000
  for (const account of accounts) {
    await root.query(`CREATE ROLE ${account} LOGIN PASSWORD 'first-password'; GRANT ALL ON notes TO ${account}`)
    if (makesAdmin) await root.query(`GRANT ${account} TO skerry_admin WITH ADMIN OPTION`)
  }
  const connection = { host: '127.0.0.1', port: Number(url.port), database: 'shop' }
  return {
    root,
    connection,
    async signsIn(user, password) {
      const client = new pg.Client({ ...connection, user, password: password ?? 'none' })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.end()
        return true
      } catch {
        return false
      }
    },
    async stop() {
      await root.end()
      await server.dispose()
      await rm(dir, { recursive: true })
    },
  }
}

/** Registers the shop as a lease target. */
export async function newShopTarget(world: World, tenant: Tenant, { connection }: Shop): Promise<string> {
  const config = { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'public' }
  const { port, database } = connection
  const credential = `postgres://skerry_admin:${adminPassword}@127.0.0.1:${port}/${database}`
  const body = { name: 'shop', config, wrappedAdminSecret: await wrappedForBroker(world, tenant, credential) }
  const params = { orgId: tenant.orgId }
  const answer = await world.call(leases.createTarget, { as: tenant.admin.as, params, body: body as never })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.target.id
}
