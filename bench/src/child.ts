import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import workspace from '../../package.json' with { type: 'json' }
import { freePort } from '../../packages/server/test/services/free-port.ts'

/** A server under test, in its own process, on loopback. */
export interface Child extends AsyncDisposable {
  port: number
  url: string
  /** Resident memory of that process now. */
  residentMb(): Promise<number>
  /** Processor time that it has used so far; null if the system does not provide it. */
  cpuMs(): Promise<number | null>
}

const startMaxMs = 60_000

/** The Node options of `npm start`. */
export const startFlags: string[] = workspace.scripts.start.split(' ').filter((word) => word.startsWith('--'))

/**
 * Starts Skerry's server as an operator does, but without rate limits, because all requests come from one address.
 *
 * @param checkout the folder of another checkout, whose server is started instead
 */
export async function startServer(settings: Record<string, string>, checkout?: string): Promise<Child> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-bench-'))
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  process.once('exit', remove)
  const file = checkout === undefined ? '../../packages/server/src/main.js' : `${checkout}/packages/server/src/main.js`
  const child = await start(file, '', startFlags, (port) => ({
    SKERRY_PORT: String(port),
    SKERRY_DATA_DIR: dataDir,
    SKERRY_LOG_LEVEL: 'error',
    SKERRY_RATE_LIMITS: 'off',
    ...settings,
  }))
  return {
    ...child,
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]()
      process.off('exit', remove)
      remove()
    },
  }
}

/** Starts a floor: the simplest program that could answer. It reads its parameters from its standard input, as JSON. */
export const startFloor = (name: string, given: object, flags: string[] = []): Promise<Child> =>
  start(`floors/${name}.ts`, JSON.stringify(given), flags, (port) => ({ PORT: String(port) }))

async function start(
  file: string,
  input: string,
  flags: string[],
  settingsOf: (port: number) => Record<string, string>,
): Promise<Child> {
  const port = await freePort()
  const path = isAbsolute(file) ? file : fileURLToPath(new URL(file, import.meta.url))
  const child = spawn(process.execPath, [...flags, ...profiling(), path], {
    env: { ...ownEnvironment(), ...settingsOf(port) },
    stdio: 'pipe',
  })
  // Ignored, because a program that ends before it has read its input is noticed by its exit.
  child.stdin.on('error', () => {}).end(input)
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => process.stderr.write(said.push(text) < 50 ? text : ''))
  const killed = () => void child.kill('SIGKILL')
  process.once('exit', killed)
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    process.off('exit', killed)
    await end(child)
  }
  try {
    await untilReady(child, `${url}/ready`)
  } catch (error) {
    await stop()
    throw new Error(`${file} did not start`, { cause: error })
  }
  return { port, url, residentMb: () => residentMb(child), cpuMs: () => cpuMs(child), [Symbol.asyncDispose]: stop }
}

/** With BENCH_PROFILE=folder, every server writes a CPU profile there when it ends. */
function profiling(): string[] {
  const folder = process.env.BENCH_PROFILE
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : []
}

/** The environment without SKERRY_ variables, which may belong to another server on this machine. */
function ownEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SKERRY_')))
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + startMaxMs
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
    const answer = await fetch(url).catch(() => null)
    await answer?.arrayBuffer()
    if (answer?.ok) return
    await sleep(50)
  }
  throw new Error(`not ready within ${startMaxMs / 1000} s`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const impatience = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await exited
  clearTimeout(impatience)
}

async function residentMb(child: ChildProcess): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(child.pid)])
  return Number(stdout.trim()) / 1024
}

/** proc(5): fields 14 and 15 are user and system time in ticks of 10 ms. Field 2 may contain any character. */
async function cpuMs(child: ChildProcess): Promise<number | null> {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'latin1').catch(() => null)
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
