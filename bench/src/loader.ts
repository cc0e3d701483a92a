import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Job {
  port: number
  /** Whole HTTP/1.1 requests; each is a random one of these. `{unique}` stands for a name not used before. */
  requests: string[]
  connections: number
  ms: number
}

export interface Outcome {
  perSecond: number
}

/** The load generator, a process of its own. */
export interface Loader extends Disposable {
  run(job: Job): Promise<Outcome>
}

export function startLoader(): Loader {
  const child: ChildProcess = fork(fileURLToPath(new URL('load.ts', import.meta.url)))
  return {
    async run(job) {
      child.send(job)
      const [outcome] = (await Promise.race([once(child, 'message'), died(child)])) as [Outcome | { error: string }]
      if ('error' in outcome) throw new Error(`load: ${outcome.error}`)
      return outcome
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

async function died(child: ChildProcess): Promise<never> {
  await once(child, 'exit')
  throw new Error('the load generator ended')
}
