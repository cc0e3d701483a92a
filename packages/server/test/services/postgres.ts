import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chownSync, constants, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { scratchRoot } from '../scratch.ts'
import { until } from '../until.ts'
import { freePort } from './free-port.ts'

export interface PostgresService {
  /** The URL of the database `postgres`, for a superuser without a password. */
  readonly url: string
  /** Makes an empty database, or a copy of `template` (to which nobody may be connected), and returns its URL. */
  createDatabase(name: string, template?: string): Promise<string>
  /** PostgreSQL's shutdown modes: `fast` breaks connections, `immediate` leaves recovery to the next start. */
  stop(mode?: 'smart' | 'fast' | 'immediate'): Promise<void>
  /** Restarts it with the same data on the same port. */
  restart(): Promise<void>
  /** Kills every process of the server at once, like a power cut, except that the kernel keeps its write cache. */
  kill9(): Promise<void>
  /** Pauses every process, like a host that no longer answers: connections stay open, but nothing is sent. */
  freeze(): void
  thaw(): void
  /** Starts a standby that follows this server, with a copy of its data on its own port. */
  startStandby(): Promise<PostgresService>
  /** Makes a standby the primary of a new timeline. */
  promote(): Promise<void>
  /** Runs one statement in the database `postgres`. */
  ask<Row>(text: string): Promise<Row[]>
  /** Stops it and removes its data. */
  dispose(): Promise<void>
}

export interface PostgresServiceOptions {
  /** False is faster, but then a test of durability proves nothing. */
  fsync?: boolean
  settings?: Record<string, string>
}

const REQUIRED = 'SKERRY_REQUIRE_SERVICES'

/** Why there is no PostgreSQL on this machine, for `describe.skipIf`; undefined when there is one. */
export function missingPostgres(): string | undefined {
  return findBinaries() === undefined ? 'no PostgreSQL binaries in PATH or /usr/lib/postgresql' : undefined
}

/** Starts a private cluster on a random loopback port. Returns null if the machine has no PostgreSQL. */
export async function startPostgres(options: PostgresServiceOptions = {}): Promise<PostgresService | null> {
  const bin = findBinaries()
  if (bin === undefined) {
    if (process.env[REQUIRED] === '1') throw new Error(`${REQUIRED}=1, but there are ${missingPostgres()}`)
    return null
  }
  const initdb = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
  return await startCluster(bin, options, 'initdb', initdb)
}

/** Starts a server on data that `initdb` or `pg_basebackup` makes. */
async function startCluster(
  bin: string,
  options: PostgresServiceOptions,
  program: 'initdb' | 'pg_basebackup',
  args: string[],
): Promise<PostgresService> {
  const user = unprivilegedUser()
  const dir = mkdtempSync(join(options.fsync === false ? scratchRoot() : tmpdir(), 'skerry-postgres-'))
  if (user.uid !== undefined && user.gid !== undefined) chownSync(dir, user.uid, user.gid)
  const data = join(dir, 'data')
  await promisify(execFile)(join(bin, program), ['-D', data, ...args], { ...user, cwd: dir })
  const cluster: Cluster = { bin, dir, data, user, port: await freePort(), options, server: undefined }
  await start(cluster)
  return serviceOf(cluster)
}

interface User {
  uid?: number
  gid?: number
}

interface Cluster {
  readonly bin: string
  readonly dir: string
  readonly data: string
  readonly user: User
  readonly port: number
  readonly options: PostgresServiceOptions
  server: ChildProcess | undefined
}

function serviceOf(cluster: Cluster): PostgresService {
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${cluster.port}/${database}`
  const signals = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const
  const thaw = () => signalTree(cluster.server?.pid, 'SIGCONT')
  const ask = <Row>(text: string): Promise<Row[]> => askOnce(urlOf('postgres'), text)
  const stop = (mode: keyof typeof signals = 'fast') => end(cluster, (pid) => process.kill(pid, signals[mode]))
  return {
    url: urlOf('postgres'),
    async createDatabase(name, template = 'template0') {
      await ask(`CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE ${pg.escapeIdentifier(template)}`)
      return urlOf(name)
    },
    ask,
    stop,
    kill9: async () => {
      await end(cluster, (pid) => signalTree(pid, 'SIGKILL'))
      await until('the port to be closed', () => isClosed(cluster.port))
    },
    freeze: () => signalTree(cluster.server?.pid, 'SIGSTOP'),
    thaw,
    startStandby: () => {
      const from = ['-h', '127.0.0.1', '-p', String(cluster.port), '-U', 'postgres']
      const args = [...from, '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
      return startCluster(cluster.bin, cluster.options, 'pg_basebackup', args)
    },
    promote: async () => void (await ask('select pg_promote()')),
    restart: async () => {
      await stop()
      await start(cluster)
    },
    dispose: async () => {
      thaw()
      await stop('immediate')
      rmSync(cluster.dir, { recursive: true, force: true })
    },
  }
}

async function askOnce<Row>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows as Row[]
  } finally {
    await client.end()
  }
}

/**
 * A watcher reads a pipe from this process. If the pipe closes before it got a line, the watcher stops the server and
 * removes its data. So a test run that is killed leaves nothing behind.
 */
const WATCHED = `
dir=$1; shift
( if ! read -r _ <&3; then
    kill -QUIT $$; while kill -0 $$; do sleep 0.1; done; rm -rf "$dir"
  fi ) 2>/dev/null >/dev/null &
exec 3<&-
exec "$@"`

async function start(cluster: Cluster): Promise<void> {
  const { options } = cluster
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(cluster.port),
    fsync: options.fsync === false ? 'off' : 'on',
    log_min_messages: 'log',
    ...options.settings,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const postgres = [join(cluster.bin, 'postgres'), '-D', cluster.data, ...args]
  for (let attempt = 1; ; attempt++) {
    const server = spawn('sh', ['-c', WATCHED, 'sh', cluster.dir, ...postgres], {
      ...cluster.user,
      cwd: cluster.dir,
      detached: true, // Ctrl-C on the test run must not reach it before the tests have ended
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    cluster.server = server
    const failure = await untilReady(server)
    if (failure === undefined) return
    dismissWatcher(server)
    // Processes of a killed server may keep its shared memory for a moment.
    if (attempt >= 100 || !failure.includes('still in use')) throw new Error(`PostgreSQL did not start:\n${failure}`)
  }
}

/** Resolves with undefined once the server is ready, or with its output if it ends before. */
function untilReady(server: ChildProcess): Promise<string | undefined> {
  let output = ''
  return new Promise((resolve) => {
    server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length < 10_000) output += chunk
      if (/ready to accept (read-only )?connections/.test(output)) resolve(undefined)
    })
    // Not `close` of the process, which also waits for the watcher.
    server.stderr?.once('end', () => resolve(output))
  })
}

async function end(cluster: Cluster, signal: (pid: number) => void): Promise<void> {
  const { server } = cluster
  cluster.server = undefined
  if (server?.pid === undefined) return
  dismissWatcher(server)
  if (server.exitCode !== null || server.signalCode !== null) return
  const exited = once(server, 'exit')
  signal(server.pid)
  await exited
}

/** Whether the port refuses connections. A server that is still ending accepts and resets them for a moment. */
async function isClosed(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.on('connect', () => resolve(false))
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'))
  return await promise.finally(() => socket.destroy())
}

function dismissWatcher(server: ChildProcess): void {
  const watcher = server.stdio[3] as NodeJS.WritableStream
  watcher.on('error', () => {})
  watcher.end('stopped\n')
}

function signalTree(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  const list = `/proc/${pid}/task/${pid}/children`
  const children = existsSync(list) ? readFileSync(list, 'utf8').trim().split(' ') : []
  for (const target of [pid, ...children.filter(Boolean).map(Number)]) {
    try {
      process.kill(target, signal)
    } catch {
      // The process has already ended.
    }
  }
}

/** Looks in SKERRY_POSTGRES_BIN, or else in the newest of the distribution's packages and then in PATH. */
function findBinaries(): string | undefined {
  if (process.env.SKERRY_POSTGRES_BIN) return [process.env.SKERRY_POSTGRES_BIN].find(hasBinaries)
  const packaged = '/usr/lib/postgresql'
  const versions = existsSync(packaged) ? readdirSync(packaged).map(Number).filter(Number.isInteger) : []
  const newest = versions.sort((a, b) => b - a).map((version) => join(packaged, String(version), 'bin'))
  return [...newest, ...(process.env.PATH ?? '').split(delimiter)].find(hasBinaries)
}

function hasBinaries(dir: string): boolean {
  return isExecutable(join(dir, 'postgres')) && isExecutable(join(dir, 'initdb'))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** PostgreSQL refuses to run as root. */
export function unprivilegedUser(): User {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const fields = users.find((line) => line.startsWith(`${name}:`))?.split(':')
    if (fields) return { uid: Number(fields[2]), gid: Number(fields[3]) }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody')
}
