import { loadConfig } from '../config/config.ts'
import { serve } from '../serve.ts'
import type { Flags } from './flags.ts'

/** Serves until a signal ends it, then finishes the open requests. */
export async function run({ config: path, state }: Flags): Promise<void> {
  const token = process.env.SKERRY_EXECUTOR_TOKEN
  if (!token)
    throw new Error('SKERRY_EXECUTOR_TOKEN is not set: set it, for example to the output of `openssl rand -base64 32`')
  const config = await loadConfig(path)
  const warn = (message: string) => process.stderr.write(`${new Date().toISOString()} ${message}\n`)
  const running = await serve({ config, stateFolder: state, token, warn })
  process.stdout.write(`skerry-executor listens on ${running.url}, for ${config.origin}\n`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await running.close()
}
