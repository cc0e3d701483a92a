import { startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, withoutCache } from '../figure.ts'
import { compare, say } from '../measure.ts'
import { populate, secretsPerOrg } from '../population.ts'

export async function resolveAtOneMillion(bench: BenchOnPostgres): Promise<number> {
  if (bench.plan.secretCount < 1_000_000) say(`  with only ${bench.plan.secretCount} secrets: this run is to be quick`)
  const start = async (name: string, count: number) => {
    const databaseUrl = await bench.postgres.createDatabase(name)
    const server = await startServer({ ...onDatabase(databaseUrl), ...withoutCache })
    const requests = await populate(databaseUrl, count, 20_000)
    const target = { name: `with ${count} secrets`, server, requests }
    return { target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }
  await using small = await start('secrets_small', secretsPerOrg)
  await using large = await start('secrets_large', bench.plan.secretCount)
  const { perSecond } = await compare(bench, large.target, small.target)
  return perSecond
}
