import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Failure } from '../failure.ts'
import { ownFile } from '../own-file.ts'

const guard = ownFile('run/guard.js')

/**
 * Starts a process that outlives this one, even if this one is killed, and then removes the files or the folder. Returns a
 * function that ends the process. Call it when they are gone: a late removal would hit the file of the next command.
 */
export async function startGuard(...paths: string[]): Promise<() => void> {
  const child = spawn(process.execPath, [guard, ...paths], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    cwd: '/',
  })
  const ready = once(child.stdout, 'data')
  const failed = once(child, 'exit').then(() => {
    throw new Failure('failure', 'the file cannot be guarded, so nothing was written into it')
  })
  await Promise.race([ready, failed])
  failed.catch(() => {})
  child.unref()
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref: () => void }).unref()
  return () => void child.kill('SIGKILL')
}
