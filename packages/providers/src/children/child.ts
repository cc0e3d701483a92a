import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ProviderError } from '../provider-error.ts'
import { readLines } from './lines.ts'
import { type Answer, answerBytesMax, type ChildEnd, ChildFailure, type Request, swollenMark } from './messages.ts'

export interface ChildSettings {
  /** The file that calls `serveAdapters`. */
  file: string
  /** The whole environment of the child. */
  environment: Readonly<Record<string, string>>
  /** The first line: what the child's door to the outside is made from. */
  door: unknown
  /** Hears of an adapter that failed otherwise than by a refusal: the error's name and where it was thrown, no data. */
  onFault?: (fault: { name: string; frames: string[] }) => void
}

/** One process in which one adapter at a time speaks with one target. */
export interface Child {
  readonly pid: number | undefined
  /** Throws `ProviderError` for a refusal, and `ChildFailure` where the child died, hung or swelled. */
  ask(request: Request, deadlineMs: number): Promise<unknown>
  /** Ends the process at once. */
  kill(): void
  /** It has ended or is being ended, and takes no more work. */
  readonly isOver: boolean
  readonly gone: Promise<void>
}

/** V8's heap beside buffers and code; what grows beyond it ends the child. */
const heapMegabytes = 128

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
  timer: NodeJS.Timeout
}

/** Starts a child. Secrets reach it through its pipe alone: its arguments are limits and the parent's process id. */
export function startChild({ file, environment, door, onFault }: ChildSettings): Child {
  const flags = [`--max-old-space-size=${heapMegabytes}`, '--max-semi-space-size=2']
  const child = spawn(process.execPath, [...flags, file, String(process.pid)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...environment },
    cwd: '/',
    detached: true,
  })
  const { promise: gone, resolve: setGone } = Promise.withResolvers<void>()
  let waiting: Waiting | undefined
  let end: ChildEnd = 'died'
  let isOver = false
  const settle = (use: (waiting: Waiting) => void) => {
    if (waiting === undefined) return
    clearTimeout(waiting.timer)
    const settled = waiting
    waiting = undefined
    use(settled)
  }
  const kill = (because: ChildEnd = 'died') => {
    if (!isOver) end = because
    isOver = true
    // Whoever ends a child may wait for its end.
    child.ref()
    child.kill('SIGKILL')
  }
  const onExit = () => {
    isOver = true
    settle(({ reject }) => reject(new ChildFailure(end)))
    setGone()
  }
  child.on('error', onExit)
  child.on('close', onExit)
  child.stdin.on('error', () => {})
  child.stderr.on('data', (chunk: Buffer) => {
    if (chunk.includes(swollenMark)) end = 'swelled'
  })
  readLines(child.stdout, answerBytesMax, {
    onTooLong: () => kill('swelled'),
    onLine(line) {
      const answer = JSON.parse(line) as Answer
      if ('fault' in answer) onFault?.(answer.fault)
      settle(({ resolve, reject }) => {
        if ('value' in answer) resolve(answer.value)
        else reject(errorOf(answer))
      })
      // An adapter that has failed in an unknown way may be in any state.
      if ('fault' in answer) kill()
    },
  })
  write(child, door)
  unref(child)
  return {
    pid: child.pid,
    gone,
    get isOver() {
      return isOver
    },
    kill: () => kill(),
    ask(request, deadlineMs) {
      if (isOver) return Promise.reject(new ChildFailure(end))
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      waiting = { resolve, reject, timer: setTimeout(kill, deadlineMs, 'hung') }
      write(child, request)
      return promise
    },
  }
}

type Process = ChildProcessByStdio<Writable, Readable, Readable>

const write = (child: Process, message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`)

/** A process whose other work is done does not wait for its children. */
function unref(child: Process): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as { unref(): void }).unref()
}

function errorOf(answer: Exclude<Answer, { value: unknown }>): Error {
  if ('fault' in answer) return new ChildFailure('died')
  const { reason, message, retryAfterMs } = answer.error
  return new ProviderError(reason, message, retryAfterMs)
}
