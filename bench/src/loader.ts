import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A proxy that is used with CONNECT. `ca` is the trusted certificate for TLS to `localhost` inside of the tunnel. */
export interface Tunnel {
  port: number
  /** Host and port. */
  to: string
  ca: string
}

export interface Job {
  port: number
  tunnel?: Tunnel | undefined
  /** Complete HTTP/1.1 requests, chosen at random each time. `{unique}` stands for a name not used before. */
  requests: string[]
  connections: number
  ms: number
}

export interface Outcome {
  answered: number
  perSecond: number
  /** 99 of 100 answers took no longer. */
  p99Ms: number
}

/** The load generator, a process of its own. */
export interface Loader extends Disposable {
  run(job: Job): Promise<Outcome>
}

export function startLoader(): Loader {
  const child: ChildProcess = fork(fileURLToPath(new URL('load.ts', import.meta.url)))
  let fail: (error: Error) => void = () => {}
  child.once('exit', () => fail(new Error('the load generator ended')))
  return {
    async run(job) {
      const outcome = await new Promise<Outcome | { error: string }>((resolve, reject) => {
        fail = reject
        child.once('message', resolve)
        child.send(job)
      })
      if ('error' in outcome) throw new Error(`load: ${outcome.error}`)
      return outcome
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}
