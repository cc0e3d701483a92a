#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { cacheFolder } from './files.ts'

// Compiled code is kept between runs, in this user's own folder: it halves the time until `skerry run` starts a program.
enableCompileCache(join(cacheFolder(), 'compiled'))
const { main } = await import('./program.ts')
process.exitCode = await main(process.argv.slice(2))
