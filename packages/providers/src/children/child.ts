import { type ChildProcess, spawn } from 'node:child_process'
import { ProviderError } from '../provider-error.ts'
import { readLines } from './lines.ts'
import { type Answer, answerBytesMax, type ChildEnd, ChildFailure, type Request, swollenMark } from './messages.ts'

export interface ChildSettings {
  /** The file that calls `serveAdapters`. */
  file: string
  /** The whole environment of the child. */
  environment: Readonly<Record<string, string>>
  /** The first line that is sent to the child: the settings of its network access. */
  door: unknown
  /**
   * Called when an adapter fails with an error that is not a refusal. Gets the error's name and stack frames, but no
   * data.
   */
  onFault?: (fault: { name: string; frames: string[] }) => void
}

/** A child is one process in which one adapter at a time speaks with one target. */
export interface Child {
  readonly pid: number | undefined
  /** Throws `ProviderError` for a refusal, and `ChildFailure` if the child died, hung or used too much memory. */
  ask(request: Request, deadlineMs: number): Promise<unknown>
  /** Ends the process at once. */
  kill(): void
  /** True once the process has ended or is being ended. It accepts no more work. */
  readonly isOver: boolean
  readonly gone: Promise<void>
}

/** V8's heap limit, which excludes buffers and code. V8 ends a child that exceeds it. */
const heapMegabytes = 128

/**
 * Signals with which a driver or V8 crashes because of its input. Other signals come from this process or this machine.
 */
const crashSignals: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGBUS', 'SIGILL', 'SIGSEGV', 'SIGTRAP']

/** The error for an end that the target did not cause. */
const stopped = (what: string) => new ProviderError('unreachable', `the process for this target ${what}`)

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
  timer: NodeJS.Timeout
}

/** Starts a child. Secrets reach it only through its stdin. Its arguments are limits and the parent's process id. */
export function startChild({ file, environment, door, onFault }: ChildSettings): Child {
  const flags = `--max-old-space-size=${heapMegabytes} --max-semi-space-size=2`
  // A single executable takes options of Node only from this variable.
  const child = started([file, String(process.pid)], { ...environment, NODE_OPTIONS: flags })
  const { promise: gone, resolve: setGone } = Promise.withResolvers<void>()
  let waiting: Waiting | undefined
  let end: ChildEnd | undefined
  let isOver = false
  const settle = (use: (waiting: Waiting) => void) => {
    if (waiting === undefined) return
    clearTimeout(waiting.timer)
    const settled = waiting
    waiting = undefined
    use(settled)
  }
  const failure = () => (end === undefined ? stopped('was stopped') : new ChildFailure(end))
  const kill = (because?: ChildEnd) => {
    if (!isOver) end = because
    isOver = true
    // Undoes `unref`, because the caller may wait until the child has ended.
    child.ref()
    child.kill('SIGKILL')
  }
  child.on('close', (_, signal) => {
    if (!isOver && crashSignals.includes(signal)) end = 'died'
    isOver = true
    settle(({ reject }) => reject(failure()))
    setGone()
  })
  child.stdin.on('error', () => {})
  child.stderr.on('data', (chunk: Buffer) => {
    if (!isOver && chunk.includes(swollenMark)) end = 'swelled'
  })
  readLines(child.stdout, answerBytesMax, {
    onTooLong: () => kill('swelled'),
    onLine(line) {
      const answer = readAnswer(line)
      // An adapter that failed in an unknown way, or that writes without a request, may be in any state.
      if (answer === undefined || 'fault' in answer || waiting === undefined) {
        if (answer !== undefined && 'fault' in answer) onFault?.(answer.fault)
        return kill('died')
      }
      settle(({ resolve, reject }) => {
        if ('value' in answer) return resolve(answer.value)
        const { reason, message, retryAfterMs } = answer.error
        reject(new ProviderError(reason, message, retryAfterMs))
      })
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
      if (isOver) return Promise.reject(failure())
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      waiting = { resolve, reject, timer: setTimeout(kill, deadlineMs, 'hung') }
      write(child, request)
      return promise
    },
  }
}

type Process = ReturnType<typeof started>

/** Throws if the machine cannot start another process. */
function started(args: string[], env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...env },
    cwd: '/',
    detached: true,
  })
  // Without this listener, a child that cannot be started would end this process.
  child.on('error', () => {})
  const { stdin, stdout, stderr } = child
  if (child.pid === undefined || !stdin || !stdout || !stderr) throw stopped('could not be started')
  return Object.assign(child, { stdin, stdout, stderr })
}

const write = (child: Process, message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`)

/** A process whose other work is done does not wait for its children. */
function unref(child: Process): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as { unref(): void }).unref()
}

/** Undefined for a line that is not an answer. A driver that a target has confused may write anything. */
function readAnswer(line: string): Answer | undefined {
  try {
    const read = JSON.parse(line) as Partial<Record<'value' | 'error' | 'fault', unknown>> | null
    if (typeof read !== 'object' || read === null) return undefined
    const isAnswer = 'value' in read || isRecord(read.error, 'message') || isRecord(read.fault, 'frames')
    return isAnswer ? (read as Answer) : undefined
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown, key: string): boolean => typeof value === 'object' && value !== null && key in value
