import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Only this file and operator/main.js read the environment variables.

// Caches stripped sources and their bytecode between starts. This file is plain JavaScript so that a start does not
// load the type stripper, which would take 16 MB. If the folder cannot be written, nothing is cached and everything
// works.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/skerry', import.meta.url)))

// Node prints warnings as text. They are collected here, and logged as JSON lines as soon as the log is open.
/** @type {Error[]} */
const warnings = []
process.removeAllListeners('warning')
process.on('warning', (warning) => warnings.push(warning))

// `skerry-server start` of the package runs this file, too. It takes no arguments: `start --help` prints the usage.
const args = process.argv.slice(2)
if (args.length === 0) await start()
else {
  const { main } = await import('./operator/program.ts')
  process.exitCode = await main(['start', ...args], process.env)
}

async function start() {
  const { giveUp, run } = await import('./run.ts')
  await run(process.env, warnings).catch(giveUp)
  // Flushed now, because the process may be killed later.
  flushCompileCache()
  // Frees about 12 MB that only the start needed. V8 would keep them for hours in an idle server. This takes 25 ms.
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
