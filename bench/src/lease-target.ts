import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { newLeasePassword, scramVerifier } from '../../packages/crypto/src/lease-verifiers.ts'
import { wrapKey } from '../../packages/crypto/src/wrap.ts'
import { startPostgres } from '../../packages/server/test/services/postgres.ts'
import { withServerKey } from './figure.ts'
import { call, makeTenant } from './tenant.ts'

export const targetAdmin = { user: 'skerry_admin', password: 'adminpassword' }

/** Settings of a server that may reach the target. */
export const mintingSettings = { ...withServerKey, SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }

/** An account to create. Its parts are made before the measurement, because they cost Skerry and a floor the same. */
export interface Account {
  name: string
  password: string
  verifier: string
}

let accounts = 0

export async function newAccount(): Promise<Account> {
  const password = newLeasePassword()
  return { name: `bench_${++accounts}`, password, verifier: await scramVerifier(password) }
}

/** A customer's PostgreSQL, on which everyone except its superuser needs a password. */
export interface LeaseTarget extends AsyncDisposable {
  address: { host: string; port: number; database: string }
  root: pg.Client
}

export async function openTarget(): Promise<LeaseTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-bench-target-'))
  await chmod(folder, 0o755)
  const hba = join(folder, 'pg_hba.conf')
  await writeFile(hba, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n')
  const server = await startPostgres({ settings: { hba_file: hba } })
  if (!server) throw new Error('no PostgreSQL')
  const root = new pg.Client(await server.createDatabase('shop'))
  await root.connect()
  await root.query(`CREATE ROLE ${targetAdmin.user} LOGIN CREATEROLE PASSWORD '${targetAdmin.password}';
    GRANT CONNECT ON DATABASE shop TO ${targetAdmin.user} WITH GRANT OPTION;
    CREATE SCHEMA app AUTHORIZATION ${targetAdmin.user}; SET ROLE ${targetAdmin.user};
    CREATE TABLE app.notes (id serial PRIMARY KEY, text text); CREATE ROLE readers; RESET ROLE`)
  return {
    address: { host: '127.0.0.1', port: Number(new URL(server.url).port), database: 'shop' },
    root,
    async [Symbol.asyncDispose]() {
      await root.end()
      await server.dispose()
      await rm(folder, { recursive: true })
    },
  }
}

/** Signs in once, as the caller who got the account does. */
export async function signIn({ address }: LeaseTarget, { name, password }: Account): Promise<void> {
  const client = new pg.Client({ ...address, user: name, password })
  await client.connect()
  await client.query('SELECT 1')
  await client.end()
}

/** Mints a lease, by default for an hour -> its end, in milliseconds since 1970. */
export type Mint = (account: Account, ttlSeconds?: number) => Promise<number>

/** Creates an organization with these targets -> a function for each that mints leases on it. */
export async function openMints(url: string, targets: readonly LeaseTarget[]): Promise<Mint[]> {
  const { orgId, admin: token } = await makeTenant(url, 0)
  const as = `Bearer ${token.bearer}`
  const at = `/v1/orgs/${orgId}/leases`
  const { publicKeyJwk } = await call<{ publicKeyJwk: string }>(url, 'GET', `${at}/broker-key`, as)
  const register = async ({ address: connection }: LeaseTarget): Promise<Mint> => {
    const { host, port, database } = connection
    const credential = `postgres://${targetAdmin.user}:${targetAdmin.password}@${host}:${port}/${database}`
    const { target } = await call<{ target: { id: string } }>(url, 'POST', `${at}/targets`, as, {
      name: `shop-${port}`,
      config: { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'app' },
      wrappedAdminSecret: await wrapKey(new TextEncoder().encode(credential), publicKeyJwk),
    })
    return async ({ name: roleName, verifier }, ttlSeconds = 3600) => {
      const wish = { provider: 'postgres', targetId: target.id, ttlSeconds, roleName, verifier }
      const { lease } = await call<{ lease: { expiresAt: string } }>(url, 'POST', at, as, wish)
      return Date.parse(lease.expiresAt)
    }
  }
  return Promise.all(targets.map(register))
}
