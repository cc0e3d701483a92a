import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../src/main.js', import.meta.url))

export interface ServerProcess {
  url: string
  pid: number
  /** Closes the pipe that reads the server's output. */
  closeLog(): Promise<void>
  kill9(): Promise<void>
  stop(): Promise<number | null>
}

/** Starts the server as its own process, as an operator does. Resolves when the server logs its address. */
export async function startProcess(
  settings: Record<string, string>,
  [program, ...args]: [string, ...string[]] = [process.execPath, main],
): Promise<ServerProcess> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, SKERRY_PORT: '0', SKERRY_RATE_LIMITS: 'off', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return {
    url: await listening(child),
    pid: child.pid as number,
    async closeLog() {
      const closed = once(child.stdout, 'close')
      child.stdout.destroy()
      await closed
    },
    kill9: () => end(child, 'SIGKILL').then(() => {}),
    stop: () => end(child, 'SIGTERM'),
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    const hear = (chunk: Buffer) => {
      output += chunk.toString()
      const found = /listens on (http:\/\/[^\s"]+)/.exec(output)
      if (found) resolve(found[1] as string)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('exit', (code, signal) => reject(new Error(`the server ended (${signal ?? code}): ${output}`)))
  })
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  return (await exited)[0] as number | null
}
