#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Only this file and ../main.js, which starts the server, read the environment variables.

// The same cache as the server's, so that a command does not strip and compile what the server has loaded before.
enableCompileCache(fileURLToPath(new URL('../../../../node_modules/.cache/skerry', import.meta.url)))

if (process.argv.length === 3 && process.argv[2] === 'start') {
  process.argv.pop()
  await import('../main.js')
} else {
  const { main } = await import('./program.ts')
  process.exitCode = await main(process.argv.slice(2), process.env)
}
