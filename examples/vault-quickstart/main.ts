import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from './start.ts'

// Runs the example until Ctrl-C. All of its data is in one temporary folder, which is deleted at the end.

const { PRODUCT_PORT = '4730', EXECUTOR_PORT = '4710' } = process.env
const folder = await mkdtemp(join(tmpdir(), 'skerry-vault-quickstart-'))
const ended = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
})
try {
  await using running = await start(folder, { product: Number(PRODUCT_PORT), executor: Number(EXECUTOR_PORT) })
  const { url, serverUrl, provider } = running
  console.log(`
The product is at ${url}

  1. Press "Connect weather", and enter this key of a Weather account: ${provider.apiKey}
  2. Press "Connect calendar", and sign in there with any name and any password.

The page then shows what the product got from both. Skerry itself is at ${serverUrl}; it keeps all of its data in
  ${join(folder, 'server')}
where you find neither the key nor a token. Ctrl-C ends all of it, and removes the folder.
`)
  await ended
} finally {
  await rm(folder, { recursive: true, force: true })
}
