import { type Child, startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, withServerKey } from '../figure.ts'
import { median, say } from '../measure.ts'
import { makeTenant, newCiphertext, request, secretName, type Tenant, usualSecrets } from '../tenant.ts'
import { openTrail, stopSealing, untilSealed } from '../trail.ts'

// The cost of sealing the audit log for requests. There are two servers, one of which seals nothing. A round is as long
// as two sealings. It begins when the entries of the last round are sealed and written to the tables' files, so that
// each side pays only for its own entries. The sides take turns in being first, because a rested database is faster.

const connections = 32
const roundMs = 20_000
const roundsMax = 5

export const sealCostOfResolve = (bench: BenchOnPostgres) => measure(bench, 'resolve', resolves)
export const sealCostOfPut = (bench: BenchOnPostgres) => measure(bench, 'put', puts)

const resolves = ({ environmentId, member }: Tenant) => [
  request('GET', `/v1/resolve?env=${environmentId}`, member.bearer),
]

const puts = ({ orgId, environmentId, admin }: Tenant) =>
  Array.from({ length: usualSecrets - 5 }, (_, i) =>
    request('PUT', `/v1/orgs/${orgId}/envs/${environmentId}/secrets/${secretName(i + 5)}`, admin.bearer, {
      ciphertext: newCiphertext(),
    }),
  )

interface Round {
  perSecond: number
  /** The processor time of the server's process for each request, in microseconds. */
  cpuEach: number
}

const mediansOf = (rounds: Round[]): Round => ({
  perSecond: median(rounds.map((round) => round.perSecond)),
  cpuEach: median(rounds.map((round) => round.cpuEach)),
})

const describe = ({ perSecond, cpuEach }: Round) =>
  `${perSecond.toFixed(0)}/s at ${cpuEach.toFixed(0)} µs of processor each`

interface Side {
  server: Child
  tenant: Tenant
}

/** The share of the rate that sealing costs. */
async function measure(
  bench: BenchOnPostgres,
  name: string,
  requestsOf: (tenant: Tenant) => string[],
): Promise<number> {
  const urls = [
    await bench.postgres.createDatabase(`seal_${name}`),
    await bench.postgres.createDatabase(`bare_${name}`),
  ]
  const [sealedUrl, bareUrl] = urls as [string, string]
  await using sealing = await startServer({ ...onDatabase(sealedUrl), ...withServerKey })
  await using bare = await startServer({ ...onDatabase(bareUrl), ...withServerKey })
  const sealingSide = { server: sealing, tenant: await makeTenant(sealing.url, usualSecrets) }
  const bareSide = { server: bare, tenant: await makeTenant(bare.url, usualSecrets) }
  const [sealed, unsealed] = [await openTrail(sealedUrl), await openTrail(bareUrl)]
  try {
    await stopSealing(unsealed)
    const rate = async ({ server, tenant }: Side, ms: number): Promise<Round> => {
      await untilSealed(sealed)
      await sealed.rows('checkpoint')
      const before = (await server.cpuMs()) ?? Number.NaN
      const outcome = await bench.loader.run({ port: server.port, connections, ms, requests: requestsOf(tenant) })
      const cpu = ((await server.cpuMs()) ?? Number.NaN) - before
      return { perSecond: outcome.perSecond, cpuEach: (cpu * 1000) / outcome.answered }
    }
    for (const side of [bareSide, sealingSide]) await rate(side, bench.plan.warmUpMs)
    const rounds: { without: Round; beside: Round }[] = []
    for (let i = 0; i < Math.min(roundsMax, bench.plan.rounds); i++) {
      const first = i % 2 === 0 ? await rate(bareSide, roundMs) : null
      const beside = await rate(sealingSide, roundMs)
      rounds.push({ without: first ?? (await rate(bareSide, roundMs)), beside })
    }
    const [without, beside] = [mediansOf(rounds.map((one) => one.without)), mediansOf(rounds.map((one) => one.beside))]
    const each = rounds.map((one) => (1 - one.beside.perSecond / one.without.perSecond).toFixed(2)).join(', ')
    say(`  ${name} ${describe(without)} without sealing, ${describe(beside)} with it; by round: ${each}`)
    return 1 - beside.perSecond / without.perSecond
  } finally {
    await sealed.close()
    await unsealed.close()
  }
}
