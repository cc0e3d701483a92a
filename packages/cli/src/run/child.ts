import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { Failure } from '../failure.ts'
import { isTerminal } from '../output.ts'
import type { Masking } from './masking.ts'

export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Child {
  done: Promise<Ending>
  /** Sends SIGTERM, and SIGKILL if the program still runs after 10 s. */
  stop: () => Promise<void>
  /** Whether a signal told this command to end. It must then not start the program again. */
  askedToEnd: () => boolean
}

const graceMs = 10_000
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const

/** Whether a signal asks a process to end. */
export const isEnding = (signal: string) => ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'].includes(signal)

/** A terminal sends these to every process in its foreground, so the program has already received them. */
const fromTerminal: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH']

/**
 * Starts a program without a shell, on this process's own terminal and files, and passes signals on to it.
 *
 * @param masking values to mask in the program's output. The streams in which they are masked are then pipes.
 */
export function startChild(file: string, argv: string[], env: Record<string, string>, masking?: Masking): Child {
  const [argv0 = file, ...args] = argv
  let asked = false
  let child: ChildProcess | undefined
  // Listen before the program starts. Otherwise an early signal would end this command and leave the program running.
  const stopListening = onSignals((signal) => {
    asked ||= isEnding(signal)
    if (!(fromTerminal.includes(signal) && isInForeground())) child?.kill(signal)
  })
  const done = new Promise<Ending>((resolve, reject) => {
    const outputOf = (descriptor: 1 | 2) => (masking?.descriptors.includes(descriptor) ? 'pipe' : 'inherit')
    child = spawn(file, args, { argv0, env, stdio: ['inherit', outputOf(1), outputOf(2)], shell: false })
    child.on('error', reject)
    const copied = masking && copyOutput(child, masking)
    child.on('exit', async (code, signal) => {
      await copied
      resolve({ code, signal })
    })
  })
    .catch((error) => {
      throw startFailure(file, error)
    })
    .finally(stopListening)
  const stop = async () => {
    child?.kill('SIGTERM')
    const kill = setTimeout(() => child?.kill('SIGKILL'), graceMs)
    await done.finally(() => clearTimeout(kill))
  }
  return { done, stop, askedToEnd: () => asked }
}

/** Calls `pass` with every signal that the program must get. Returns a function that stops listening. */
export function onSignals(pass: (signal: NodeJS.Signals) => void): () => void {
  const listeners = forwarded.map((signal) => {
    const listener = () => pass(signal)
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })
  return () => {
    for (const stopListening of listeners) stopListening()
  }
}

async function copyOutput({ stdout, stderr }: ChildProcess, masking: Masking): Promise<void> {
  const { copyMasked } = await import('./mask.ts')
  await copyMasked([stdout, stderr], masking)
}

/** Ends as the program ended: by the same signal, or with the same code. */
export function endAs({ code, signal }: Ending): number {
  if (signal === null) return code ?? 1
  // Process 1 of a container does not die of a signal. It exits with the code that a shell would use.
  process.kill(process.pid, signal)
  return 128 + constants.signals[signal]
}

export function startFailure(file: string, error: Pick<NodeJS.ErrnoException, 'code'>): Failure {
  if (error.code === 'ENOENT')
    return new Failure('commandNotFound', `${file}, or the program that interprets it, does not exist`)
  if (error.code === 'E2BIG')
    return new Failure(
      'notExecutable',
      'all values together are more than a program can be given',
      'choose some with --only',
    )
  return new Failure('notExecutable', `${file} cannot be executed (${error.code})`)
}

/**
 * Whether the terminal sends its signals to this process group. Only Linux tells; elsewhere any terminal on stdin
 * counts.
 */
function isInForeground(): boolean {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const [, , group, , , terminalGroup] = fields
    return group === terminalGroup
  } catch {
    return isTerminal.stdin()
  }
}
