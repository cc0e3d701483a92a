import { execFile } from 'node:child_process'

/** Runs a program -> its output and exit code. It is stopped after 60 s. */
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

/** Runs curl through a forward proxy that it trusts. `-f` is left out, so that the text of a refusal is printed too. */
export const curl = (proxy: { forward: string | undefined; certificatePath: string | undefined }, ...args: string[]) =>
  run('curl', ['-sS', '--proxy', proxy.forward!, '--cacert', proxy.certificatePath!, ...args])
