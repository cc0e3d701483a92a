import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../server/src/config.ts'
import { openLog } from '../../server/src/kernel/log.ts'
import { type RunningServer, startServer } from '../../server/src/server.ts'
import { newDatabase } from '../../server/test/engine.ts'
import { newScratch } from '../../server/test/scratch.ts'
import { freePort } from '../../server/test/services/free-port.ts'

/** A server with a new database, which a test can stop and start again. */
export interface Server {
  url: string
  /** The variables of its environment. */
  settings: Record<string, string>
  stop: () => Promise<void>
  start: () => Promise<void>
  close: () => Promise<void>
}

/** A server as an operator runs it. */
export interface ServerProcess extends Server {
  kill9: () => Promise<void>
}

const main = fileURLToPath(new URL('../../server/src/main.js', import.meta.url))

/** Starts a server in this process. Loading one in a process of its own takes five times as long. */
export async function openServer(more: Record<string, string> = {}): Promise<Server> {
  const { settings, remove } = await prepare(more)
  const launch = () =>
    startServer(
      Object.assign(readConfig(settings), { optimize: true }),
      openLog('silent', () => {}),
      () => new Date(),
    )
  let running: RunningServer | undefined = await launch()
  const stop = async () => {
    const stopped = running
    running = undefined
    await stopped?.close()
  }
  return {
    url: running.url,
    settings,
    stop,
    start: async () => {
      running = await launch()
    },
    close: async () => {
      await stop()
      await remove()
    },
  }
}

/** Starts a server in a process of its own, for a suite that kills it or needs its environment. */
export async function openServerProcess(more: Record<string, string> = {}): Promise<ServerProcess> {
  const { settings, remove } = await prepare(more)
  let running = await launch(settings)
  const end = async (signal: NodeJS.Signals) => {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return
    const exited = new Promise((done) => running.child.once('exit', done))
    running.child.kill(signal)
    await exited
  }
  const stop = () => end('SIGTERM')
  return {
    url: running.url,
    settings,
    stop,
    kill9: () => end('SIGKILL'),
    start: async () => {
      running = await launch(settings)
    },
    close: async () => {
      await stop()
      await remove()
    },
  }
}

/** Makes a database, and the settings of a server with it. */
async function prepare(more: Record<string, string>) {
  const dataDir = await newScratch('skerry-cli-server-')
  const database = await newDatabase(dataDir)
  const own = { SKERRY_DATA_DIR: dataDir, SKERRY_PORT: String(await freePort()), SKERRY_RATE_LIMITS: 'off' }
  const settings: Record<string, string> = { ...own, ...database.settings, ...more }
  const remove = async () => {
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { settings, remove }
}

async function launch(settings: Record<string, string>): Promise<{ child: ChildProcess; url: string }> {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [main], {
    env: { ...(PATH ? { PATH } : {}), ...(HOME ? { HOME } : {}), ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /listens on (http:\/\/[^" ]+)/.exec(line)?.[1]
    if (url !== undefined) {
      child.stdout!.resume()
      return { child, url }
    }
  }
  throw new Error('the server ended before it listened')
}
