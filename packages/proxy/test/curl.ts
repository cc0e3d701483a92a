import { execFile } from 'node:child_process'

/** Runs a program -> what it printed and how it ended. It is not waited for without end. */
export function run(
  file: string,
  args: string[],
  options: { env?: Record<string, string>; cwd?: string; uid?: number } = {},
) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...options.env }
    execFile(file, args, { ...options, env, timeout: 60_000 }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}

/** curl through a forward proxy that it trusts. `-f` is left out: what a refusal says is wanted, too. */
export const curl = (proxy: { forward: string | undefined; certificatePath: string | undefined }, ...args: string[]) =>
  run('curl', ['-sS', '--proxy', proxy.forward!, '--cacert', proxy.certificatePath!, ...args])
