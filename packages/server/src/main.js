import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// The only file that reads the environment.

// Sources without their types, and their bytecode, are kept between starts. This file is plain JavaScript so that a start
// loads nothing that strips types, which would be 16 MB. Where the folder cannot be written, nothing is kept and all works.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/skerry', import.meta.url)))

const { giveUp, run } = await import('./run.ts')
await run(process.env).catch(giveUp)
// Now, and not at the end of the process, which may be a kill.
flushCompileCache()
