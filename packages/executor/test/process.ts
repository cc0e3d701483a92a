import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { until } from '../../server/test/until.ts'
import { client } from './provider.ts'
import { type Scene, token } from './scene.ts'

const main = fileURLToPath(new URL('../src/main.js', import.meta.url))

/** Starts the executor of a scene as a process of its own, as an operator does. */
export async function launch(scene: Pick<Scene, 'settingsFile' | 'state'>): Promise<ChildProcess> {
  const env = { ...process.env, SKERRY_EXECUTOR_TOKEN: token, MAIL_CLIENT_SECRET: client.secret }
  const args = [main, 'serve', '--config', scene.settingsFile(), '--state', scene.state]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const out: string[] = []
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => out.push(text))
  await until('the executor listens', () => {
    if (child.exitCode !== null) throw new Error(`the executor ended: ${out.join('')}`)
    return out.join('').includes('listens on')
  })
  return child
}

export async function kill9(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
