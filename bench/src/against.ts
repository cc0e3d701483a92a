import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { missingPostgres, startPostgres } from '../../packages/server/test/services/postgres.ts'
import { type Child, startServer } from './child.ts'
import { onDatabase, withoutCache } from './figure.ts'
import { puts } from './figures/secret-put.ts'
import { startLoader } from './loader.ts'
import { comparison, inTurns, type Target } from './measure.ts'
import { plans } from './plan.ts'
import { makeTenant, request, usualSecrets } from './tenant.ts'

// Compares the server of this checkout with that of another one, such as the commit before a change: with the same
// requests, in turns, on one PostgreSQL. The other server runs twice, which shows how much two runs of one code differ.

/** The requests of each load, and the settings that they need. */
const loads = {
  secret_put: { settings: {}, requests: puts },
  resolve_uncached: { settings: withoutCache, requests: resolves },
}

async function resolves(url: string): Promise<string[]> {
  const { environmentId, member } = await makeTenant(url, usualSecrets)
  return [request('GET', `/v1/resolve?env=${environmentId}`, member.bearer)]
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean' }, only: { type: 'string', default: 'secret_put' } },
    allowPositionals: true,
  })
  const [checkout] = positionals
  const load = loads[values.only as keyof typeof loads]
  if (checkout === undefined || !load)
    throw new Error(`usage: bench/src/against.ts <checkout> [--quick] [--only ${Object.keys(loads).join('|')}]`)
  const postgres = await startPostgres({ fsync: true })
  if (!postgres) throw new Error(`not measured: there are ${missingPostgres()}`)
  using loader = startLoader()
  const servers: Child[] = []
  try {
    const target = async (name: string, folder?: string): Promise<Target> => {
      const databaseUrl = await postgres.createDatabase(name)
      const server = await startServer({ ...onDatabase(databaseUrl), ...load.settings }, folder)
      servers.push(server)
      return { name, server, requests: await load.requests(server.url) }
    }
    const here = await target('here')
    const other = await target('other', resolve(checkout))
    const again = await target('other_again', resolve(checkout))
    const bench = { loader, plan: values.quick ? plans.quick : plans.full }
    const rounds = await inTurns(bench, [other, here, again])
    const { perSecond } = comparison(rounds, here, other)
    const control = comparison(rounds, again, other)
    process.stdout.write(`${values.only} ${perSecond.toFixed(2)}\ncontrol ${control.perSecond.toFixed(2)}\n`)
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]()
    await postgres.dispose()
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
await main()
