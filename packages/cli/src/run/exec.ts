import { surelyExecutes } from './program.ts'

/** Well below every system's limit for arguments and environment together (Linux: a quarter of the stack limit). */
const startMaxBytes = 1024 * 1024

/**
 * Replaces this process with the program, as a shell's `exec` does. Signals, job control and the exit code are then the
 * program's own, no signal arrives twice, and no idle process stays behind. It returns if success is not certain; the
 * caller then starts the program as a child.
 */
export function exec(file: string, argv: string[], env: Record<string, string>): void {
  const { execve } = process
  if (typeof execve !== 'function' || process.platform === 'win32') return
  if (startBytes(argv, env) > startMaxBytes || !surelyExecutes(file)) return
  // Node ignores these two signals, and the program would inherit that: `yes | head -1` would complain. A signal with a
  // handler returns to its default in the program.
  for (const signal of ['SIGPIPE', 'SIGXFSZ'] as const) process.on(signal, () => {})
  execve.call(process, file, argv, env)
}

function startBytes(argv: string[], env: Record<string, string>): number {
  const texts = [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 9, 0)
}
