import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { builtProgram } from './built.js'
import { cacheFolder, makePrivate } from './folders.js'
import { leaveStreamsClosed } from './inherited.js'

// Compiled code is kept between runs: it more than halves the time until `skerry run` starts a program, as long as nothing is
// loaded that strips types; so this file and what it imports are plain JavaScript. It is code that will be executed, so it
// lies where nobody else can write; without such a place, every run compiles.
try {
  makePrivate(cacheFolder())
  enableCompileCache(join(cacheFolder(), 'compiled'))
} catch {}

await leaveStreamsClosed()
const { main } = await import(builtProgram() ?? './program.ts')
process.exitCode = await main(process.argv.slice(2))
