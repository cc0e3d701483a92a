import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { newLeasePassword, scramVerifier } from '../../../packages/crypto/src/lease-verifiers.ts'
import { wrapKey } from '../../../packages/crypto/src/wrap.ts'
import { type PostgresService, startPostgres } from '../../../packages/server/test/services/postgres.ts'
import { startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase } from '../figure.ts'
import { median, say } from '../measure.ts'
import { call, makeTenant } from '../tenant.ts'

const admin = { user: 'skerry_admin', password: 'adminpassword' }

/** What is asked for, made before the time begins: both sides need it. */
interface Account {
  name: string
  password: string
  verifier: string
}

/**
 * From the wish for an account on PostgreSQL to the first answer that it got there, one after the other: through the server,
 * and by a program that signs in as admin, makes the role and is done. More than 1 would be faster than that program.
 */
export async function leaseMint(bench: BenchOnPostgres): Promise<number> {
  const { server: target, remove } = await openTarget()
  try {
    const address = { host: '127.0.0.1', port: Number(new URL(target.url).port), database: 'shop' }
    await using server = await startServer({
      ...onDatabase(await bench.postgres.createDatabase('lease_mint')),
      SKERRY_SERVER_KEY: Buffer.alloc(32, 7).toString('base64url'),
      SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    })
    const mint = await openMint(server.url, address)
    const signIn = async ({ name, password }: Account) => {
      const client = new pg.Client({ ...address, user: name, password })
      await client.connect()
      await client.query('SELECT 1')
      await client.end()
    }
    const makeRole = async ({ name, verifier }: Account) => {
      const client = new pg.Client({ ...address, ...admin })
      await client.connect()
      await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${verifier}' IN ROLE readers`)
      await client.end()
    }
    const time = async (make: (account: Account) => Promise<unknown>) => {
      const account = await newAccount()
      const startedAt = performance.now()
      await make(account)
      await signIn(account)
      return performance.now() - startedAt
    }
    const rounds: { floor: number; ours: number }[] = []
    for (let i = -5; i < bench.plan.rounds * 4; i++) {
      const round = { floor: await time(makeRole), ours: await time(mint) }
      if (i >= 0) rounds.push(round)
    }
    const [floor, ours] = [median(rounds.map((round) => round.floor)), median(rounds.map((round) => round.ours))]
    say(`  lease and sign-in ${ours.toFixed(1)} ms; role and sign-in ${floor.toFixed(1)} ms`)
    return floor / ours
  } finally {
    await target.dispose()
    await remove()
  }
}

let accounts = 0

async function newAccount(): Promise<Account> {
  const password = newLeasePassword()
  return { name: `bench_${++accounts}`, password, verifier: await scramVerifier(password) }
}

/** A database of the customer’s, on which everybody but its superuser needs a password. */
async function openTarget(): Promise<{ server: PostgresService; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-bench-target-'))
  await chmod(folder, 0o755)
  const hba = join(folder, 'pg_hba.conf')
  await writeFile(hba, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n')
  const server = await startPostgres({ settings: { hba_file: hba } })
  if (!server) throw new Error('no PostgreSQL')
  const root = new pg.Client(await server.createDatabase('shop'))
  await root.connect()
  await root.query(`CREATE ROLE ${admin.user} LOGIN CREATEROLE PASSWORD '${admin.password}';
    GRANT CONNECT ON DATABASE shop TO ${admin.user} WITH GRANT OPTION;
    CREATE SCHEMA app AUTHORIZATION ${admin.user}; SET ROLE ${admin.user};
    CREATE TABLE app.notes (id serial PRIMARY KEY, text text); CREATE ROLE readers; RESET ROLE`)
  await root.end()
  return { server, remove: () => rm(folder, { recursive: true }) }
}

/** Registers the target, and gives what mints on it. */
async function openMint(url: string, connection: { host: string; port: number; database: string }) {
  const { orgId, admin: token } = await makeTenant(url, 0)
  const as = `Bearer ${token.bearer}`
  const at = `/v1/orgs/${orgId}/leases`
  const { publicKeyJwk } = await call<{ publicKeyJwk: string }>(url, 'GET', `${at}/broker-key`, as)
  const { host, port, database } = connection
  const credential = `postgres://${admin.user}:${admin.password}@${host}:${port}/${database}`
  const { target } = await call<{ target: { id: string } }>(url, 'POST', `${at}/targets`, as, {
    config: { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'app' },
    wrappedAdminSecret: await wrapKey(new TextEncoder().encode(credential), publicKeyJwk),
  })
  const wish = { provider: 'postgres', targetId: target.id, ttlSeconds: 3600 }
  return ({ name: roleName, verifier }: Account) => call(url, 'POST', at, as, { ...wish, roleName, verifier })
}
