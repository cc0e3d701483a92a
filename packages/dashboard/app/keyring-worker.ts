import type { Operations } from './worker/operations.ts'
import type { Controls, Port } from './worker/sharing.ts'
import type { Answer, Question } from './worker/worker.ts'

/** An error of the worker. `code` is the error code of @skerry/crypto. */
export class KeyringError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

type Asked = Operations & Controls
export type Name = keyof Operations
export type Input<N extends keyof Asked> = Parameters<Asked[N]>[0]
export type Output<N extends keyof Asked> = Awaited<ReturnType<Asked[N]>>

/** The connection of this tab to a worker with the keys. */
export interface Connection {
  /** The name by which other tabs reach the worker. Null if it belongs to this tab alone. */
  name: string | null
  post: <N extends keyof Asked>(name: N, input: Input<N>) => Promise<Output<N>>
  /** Rejects all questions that are not answered yet. */
  reject: (error: KeyringError) => void
  /** Ends the connection. A worker that no other tab uses ends with it. */
  leave: () => void
}

/**
 * Connects to the worker of this name, or starts it. On a browser without shared workers, it starts a worker for this tab.
 *
 * @param onFailure called if the script of the worker does not load, for example after an update of the server
 */
export function connect(name: string, onFailure: () => void): Connection {
  const { port, isShared, terminate } = open(name, onFailure)
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let count = 0
  port.onmessage = ({ data }: MessageEvent<Answer>) => {
    const asker = waiting.get(data.id)
    waiting.delete(data.id)
    if ('error' in data) asker?.reject(new KeyringError(data.error.code, data.error.message))
    // The answer to this id has the type that `post` promised for it.
    else asker?.resolve(data.value as never)
  }
  const post: Connection['post'] = (name, input) => {
    const id = ++count
    port.postMessage({ id, name, input } satisfies Question)
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }
  return {
    name: isShared ? name : null,
    post,
    reject(error) {
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    },
    leave() {
      if (isShared) void post('leave', {})
      terminate()
    },
  }
}

function open(name: string, onFailure: () => void): { port: Port; isShared: boolean; terminate: () => void } {
  if (typeof SharedWorker === 'undefined') {
    const own = new Worker(new URL('./worker/worker.ts', import.meta.url), { type: 'module', name: 'keyring' })
    own.onerror = onFailure
    return { port: own, isShared: false, terminate: () => own.terminate() }
  }
  const shared = new SharedWorker(new URL('./worker/worker.ts', import.meta.url), { type: 'module', name })
  shared.onerror = onFailure
  return { port: shared.port, isShared: true, terminate: () => {} }
}
