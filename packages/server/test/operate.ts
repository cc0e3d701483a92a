import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { main } from '../src/operator/program.ts'

export interface Operated {
  code: number
  stdout: string
  stderr: string
}

/**
 * Runs `skerry-server` in this process. Loading it in a process of its own takes three times as long, so a suite does
 * that once.
 */
export async function operate(settings: Record<string, string>, args: string[]): Promise<Operated> {
  const texts = { stdout: '', stderr: '' }
  const output = (stream: keyof typeof texts) => ({ write: (text: string) => (texts[stream] += text) })
  const host = { stdout: output('stdout'), stderr: output('stderr'), optimize: true }
  return { code: await main(args, settings, host), ...texts }
}

/**
 * Runs `skerry-server` as an operator does.
 *
 * @param file the program, which is `main.js` for `start` of the package
 */
export const operateProcess = (
  settings: Record<string, string>,
  args: string[],
  file = 'operator/main.js',
): Promise<Operated> =>
  new Promise((resolve) => {
    const env = { PATH: process.env.PATH, ...settings }
    const program = fileURLToPath(new URL(`../src/${file}`, import.meta.url))
    const child = execFile(process.execPath, [program, ...args], { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
