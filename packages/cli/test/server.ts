import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { newDatabase } from '../../server/test/engine.ts'
import { newScratch } from '../../server/test/scratch.ts'
import { freePort } from '../../server/test/services/free-port.ts'

/** A server as an operator runs it: a process of its own with a new database, which a test can stop and start again. */
export interface Server {
  url: string
  /** The variables of its environment. */
  settings: Record<string, string>
  stop: () => Promise<void>
  kill9: () => Promise<void>
  start: () => Promise<void>
  close: () => Promise<void>
}

const main = fileURLToPath(new URL('../../server/src/main.js', import.meta.url))

export async function openServer(more: Record<string, string> = {}): Promise<Server> {
  const dataDir = await newScratch('skerry-cli-server-')
  const database = await newDatabase(dataDir)
  const own = { SKERRY_DATA_DIR: dataDir, SKERRY_PORT: String(await freePort()), SKERRY_RATE_LIMITS: 'off' }
  const settings = { ...own, ...database.settings, ...more }
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
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
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
