import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { builtProgram } from './built.js'
import { cacheFolder, makePrivate } from './folders.js'
import { leaveStreamsClosed } from './inherited.js'

// Node caches compiled code between runs, which more than halves the start of `skerry run`. This works only if no loaded
// file has types to strip, so this file and its imports are plain JavaScript. The cache contains code that will be
// executed, so it is in a folder where nobody else can write. Without such a folder, every run compiles.
try {
  makePrivate(cacheFolder())
  enableCompileCache(join(cacheFolder(), 'compiled'))
} catch {}

await leaveStreamsClosed()
const { main } = await import(builtProgram() ?? './program.ts')
process.exitCode = await main(process.argv.slice(2))
