#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { cacheFolder, makePrivateFolder } from './files.ts'

// Compiled code is kept between runs: it halves the time until `skerry run` starts a program. It is code that will be
// executed, so it lies where nobody else can write; without such a place, every run compiles.
try {
  makePrivateFolder(cacheFolder())
  enableCompileCache(join(cacheFolder(), 'compiled'))
} catch {}

const { main } = await import('./program.ts')
process.exitCode = await main(process.argv.slice(2))
