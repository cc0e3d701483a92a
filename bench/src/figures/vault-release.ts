import { assertSame, get } from '../answer.ts'
import { startFloor, startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, poolSize } from '../figure.ts'
import { compare, say } from '../measure.ts'
import { makeVault, pathOf, releases } from '../vault.ts'

const usualConnections = 1000
const requestCount = 20_000

async function open(bench: BenchOnPostgres, name: string, connectionCount: number) {
  const databaseUrl = await bench.postgres.createDatabase(name)
  const server = await startServer(onDatabase(databaseUrl))
  const vault = await makeVault(databaseUrl, connectionCount, requestCount)
  const target = { name: `release of ${connectionCount}`, server, requests: releases(vault) }
  return { databaseUrl, vault, target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

export async function vaultRelease(bench: BenchOnPostgres): Promise<number> {
  await using ours = await open(bench, 'vault_release', usualConnections)
  await using floor = await startFloor('release', { databaseUrl: ours.databaseUrl, poolSize })
  const { executor, connectionIds } = ours.vault
  const path = pathOf(connectionIds[0] as string)
  assertSame(await get(ours.target.server.url + path, executor), await get(floor.url + path, executor))
  const { perSecond } = await compare(bench, ours.target, { ...ours.target, name: 'two queries', server: floor })
  return perSecond
}

export async function vaultReleaseAtOneMillion(bench: BenchOnPostgres): Promise<number> {
  const { secretCount: count } = bench.plan
  if (count < 1_000_000) say(`  with only ${count} connections: this run is to be quick`)
  await using small = await open(bench, 'vault_small', usualConnections)
  await using large = await open(bench, 'vault_large', count)
  const { perSecond } = await compare(bench, large.target, small.target)
  return perSecond
}
