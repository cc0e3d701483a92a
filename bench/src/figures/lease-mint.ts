import pg from 'pg'
import { startServer } from '../child.ts'
import { each } from '../each.ts'
import { type BenchOnPostgres, onDatabase } from '../figure.ts'
import {
  type Account,
  type LeaseTarget,
  type Mint,
  mintingSettings,
  newAccount,
  openMints,
  openTarget,
  signIn,
  targetAdmin,
} from '../lease-target.ts'
import { median, say } from '../measure.ts'

const liveLeases = 2000

/**
 * Compares two ways to get a PostgreSQL account and sign in with it, one account after the other: through the server,
 * and with a program that signs in as admin and makes the role. Above 1 the server would be faster than that program.
 */
export async function leaseMint(bench: BenchOnPostgres): Promise<number> {
  await using target = await openTarget()
  await using server = await startServer({
    ...onDatabase(await bench.postgres.createDatabase('lease_mint')),
    ...mintingSettings,
  })
  const [mint] = (await openMints(server.url, [target])) as [Mint]
  const { one, other } = await alternate(bench.plan.rounds * 4, {
    one: (account) => makeRole(target, account).then(() => signIn(target, account)),
    other: (account) => mint(account).then(() => signIn(target, account)),
  })
  say(`  lease and sign-in ${other.toFixed(1)} ms; role and sign-in ${one.toFixed(1)} ms`)
  return one / other
}

/** The time of a lease and sign-in on a target with 2000 live leases, divided by the time on a target with few. */
export async function leaseMintAtMany(bench: BenchOnPostgres): Promise<number> {
  await using few = await openTarget()
  await using many = await openTarget()
  await using server = await startServer({
    ...onDatabase(await bench.postgres.createDatabase('lease_mint_at_many')),
    ...mintingSettings,
  })
  const [mintOnFew, mintOnMany] = (await openMints(server.url, [few, many])) as [Mint, Mint]
  await each(liveLeases, async () => mintOnMany(await newAccount()))
  const { one, other } = await alternate(bench.plan.rounds * 2, {
    one: (account) => mintOnFew(account).then(() => signIn(few, account)),
    other: (account) => mintOnMany(account).then(() => signIn(many, account)),
  })
  say(`  lease and sign-in ${one.toFixed(1)} ms; with ${liveLeases} live leases ${other.toFixed(1)} ms`)
  return other / one
}

async function makeRole({ address }: LeaseTarget, { name, verifier }: Account): Promise<void> {
  const client = new pg.Client({ ...address, ...targetAdmin })
  await client.connect()
  await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${verifier}' IN ROLE readers`)
  await client.end()
}

type Work = (account: Account) => Promise<unknown>

/** The median times of both kinds of work in milliseconds, each with a new account. The first 5 rounds do not count. */
async function alternate(rounds: number, work: { one: Work; other: Work }): Promise<{ one: number; other: number }> {
  const time = async (make: Work) => {
    const account = await newAccount()
    const startedAt = performance.now()
    await make(account)
    return performance.now() - startedAt
  }
  const times: { one: number; other: number }[] = []
  for (let i = -5; i < rounds; i++) {
    const round = { one: await time(work.one), other: await time(work.other) }
    if (i >= 0) times.push(round)
  }
  return { one: median(times.map(({ one }) => one)), other: median(times.map(({ other }) => other)) }
}
