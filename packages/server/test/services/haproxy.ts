import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { until } from '../until.ts'
import { freePort } from './free-port.ts'
import type { PostgresService } from './postgres.ts'

/** HAProxy in front of several databases, as operators run it with Patroni. New connections go to the leader. */
export interface Haproxy {
  /** The URL of a database behind the proxy. */
  urlOf(database: string): string
  /** Makes another database the leader, and returns once new connections reach it. Open connections are not moved. */
  leadTo(leader: PostgresService): Promise<void>
  dispose(): Promise<void>
}

/** Debian has it in /usr/sbin, which is not in everyone's PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }

/** Why HAProxy cannot run on this machine; undefined if it can. */
export const missingHaproxy = (): string | undefined =>
  spawnSync('haproxy', ['-v'], { env }).error === undefined ? undefined : 'no haproxy in PATH or /usr/sbin'

export async function startHaproxy(databases: readonly PostgresService[]): Promise<Haproxy> {
  let [leader] = databases
  const checks = await Promise.all(databases.map((database) => startCheck(() => database === leader)))
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'skerry-haproxy-'))
  const file = join(dir, 'haproxy.cfg')
  writeFileSync(file, configurationOf(port, databases, checks.map(portOf)))
  const child = spawn('haproxy', ['-db', '-f', file], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const untilLed = (to: PostgresService) =>
    until(`HAProxy leads to the leader\n${said}`, async () => (await portBehind(urlOf('postgres'))) === portIn(to.url))
  await untilLed(leader as PostgresService)
  return {
    urlOf,
    async leadTo(next) {
      leader = next
      await untilLed(next)
    },
    async dispose() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      for (const check of checks) check.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Sessions are left open on purpose: Skerry must not depend on `on-marked-down shutdown-sessions`. */
const configurationOf = (port: number, databases: readonly PostgresService[], checkPorts: number[]): string => `
defaults
  mode tcp
  timeout connect 1s
  timeout check 1s
  timeout client 1h
  timeout server 1h
listen postgres
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  default-server check inter 100ms fall 1 rise 1
${databases.map(({ url }, at) => `  server db${at} 127.0.0.1:${portIn(url)} port ${checkPorts[at]}`).join('\n')}
`

/** Starts the health check of one database, which answers 200 for the leader, as Patroni does. */
async function startCheck(isLeader: () => boolean): Promise<Server> {
  const server = createServer((_request, response) => response.writeHead(isLeader() ? 200 : 503).end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const portOf = (server: Server) => (server.address() as AddressInfo).port
const portIn = (url: string) => new URL(url).port

async function portBehind(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<{ port: string }>(`select current_setting('port') as port`)).rows[0]?.port
  } catch {
    return undefined
  } finally {
    await client.end()
  }
}
