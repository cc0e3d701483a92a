import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// The only file that reads the environment.

// Sources without their types, and their bytecode, are kept between starts. This file is plain JavaScript so that a start
// loads nothing that strips types, which would be 16 MB. Where the folder cannot be written, nothing is kept and all works.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/skerry', import.meta.url)))

// Node prints warnings as text. The log, which is JSON lines, gets them as soon as it is open.
/** @type {Error[]} */
const warnings = []
process.removeAllListeners('warning')
process.on('warning', (warning) => warnings.push(warning))

const { giveUp, run } = await import('./run.ts')
await run(process.env, warnings).catch(giveUp)
// Now, and not at the end of the process, which may be a kill.
flushCompileCache()
// What only the start needed is given back at once, some 12 MB of it: V8 lets an idle server keep it for hours. It takes 25 ms.
setFlagsFromString('--expose-gc')
runInNewContext('gc')()
