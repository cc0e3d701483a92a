import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, startProcess } from '../crash/server-process.ts'
import { type Haproxy, missingHaproxy, startHaproxy } from '../services/haproxy.ts'
import { missingPostgres, type PostgresService, startPostgres } from '../services/postgres.ts'
import { type Actor, grantKey, newApp, newEnv, newToken, putSecret, signUp, type Tenant } from '../tenant.ts'
import { until } from '../until.ts'
import { call, serverKey, type World } from '../world.ts'

/** Why the suite cannot run on this machine; undefined when it can. */
export const missing = process.env.SKERRY_REQUIRE_SERVICES === '1' ? undefined : (missingPostgres() ?? missingHaproxy())

/** Two servers on one database, each in its own process, and an environment that a token can read. */
export interface Scene {
  servers: readonly [ServerProcess, ServerProcess]
  tenant: Tenant
  envId: string
  token: Actor
  /** Has the part of `World` that the test helpers use, with the first server. */
  world: World
  close(): Promise<void>
}

/** @param url of an empty database */
export async function openScene(url: string): Promise<Scene> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-failover-'))
  const settings = {
    SKERRY_DATA_DIR: dataDir,
    SKERRY_DATABASE_URL: url,
    SKERRY_SERVER_KEY: serverKey,
    SKERRY_DATABASE_SILENT_SECONDS: '1',
  }
  const servers = [await startProcess(settings), await startProcess(settings)] as const
  const world = {
    call: (endpoint: never, input: never) => call(servers[0].url, [], endpoint, input),
  } as unknown as World
  const tenant = await signUp(world)
  const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  const token = await newToken(world, tenant)
  await grantKey(world, tenant, envId, token)
  await putSecret(world, tenant, envId, 'FIRST')
  const close = async () => {
    await Promise.all(servers.map((server) => server.kill9()))
    await rm(dataDir, { recursive: true, force: true })
  }
  return { servers, tenant, envId, token, world, close }
}

export interface Pair {
  primary: PostgresService
  /** A synchronous standby, so it has every acknowledged commit. */
  standby: PostgresService
  proxy: Haproxy
  /** Promotes the standby and points the proxy at it, whatever the state of the primary. */
  failOver(): Promise<void>
  close(): Promise<void>
}

/** A primary and its synchronous standby, behind HAProxy. */
export async function openPair(): Promise<Pair> {
  const primary = (await startPostgres()) as PostgresService
  const standby = await primary.startStandby()
  await primary.ask(`alter system set synchronous_standby_names = '*'`)
  await primary.ask('select pg_reload_conf()')
  await until('the standby is synchronous', async () => {
    const rows = await primary.ask<{ state: string }>('select sync_state as state from pg_stat_replication')
    return rows[0]?.state === 'sync'
  })
  const proxy = await startHaproxy([primary, standby])
  return {
    primary,
    standby,
    proxy,
    async failOver() {
      await standby.promote()
      await proxy.leadTo(standby)
    },
    async close() {
      await proxy.dispose()
      await standby.dispose()
      await primary.dispose()
    },
  }
}
