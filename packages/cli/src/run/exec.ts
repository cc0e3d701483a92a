import { surelyExecutes } from './program.ts'

/** Well below what any system takes for arguments and environment together (Linux: a quarter of the stack limit). */
const startMaxBytes = 1024 * 1024

/**
 * Replaces this process by the program, as a shell's `exec` does: signals, job control and the exit code are then the
 * program's own, nothing is delivered twice, and no idle process stays behind. Returns when that cannot be done for sure;
 * the program is to be started as a child then.
 */
export function exec(file: string, argv: string[], env: Record<string, string>): void {
  const { execve } = process
  if (typeof execve !== 'function' || process.platform === 'win32') return
  if (startBytes(argv, env) > startMaxBytes || !surelyExecutes(file)) return
  // Node ignores these two, and what is ignored stays so in the program: `yes | head -1` would complain. What is handled
  // goes back to its default.
  for (const signal of ['SIGPIPE', 'SIGXFSZ'] as const) process.on(signal, () => {})
  execve.call(process, file, argv, env)
}

function startBytes(argv: string[], env: Record<string, string>): number {
  const texts = [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 9, 0)
}
