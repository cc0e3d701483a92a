#!/usr/bin/env node

// Any version of Node can read this file, so that it can name the version it needs. The files loaded below rely on that
// version.
const needed = 24
if (Number.parseInt(process.versions.node, 10) < needed) {
  process.stderr.write(`skerry-executor: Node ${needed} or newer is needed, and this is ${process.versions.node}\n`)
  process.exit(1)
}
const { main } = await import('./program.ts')
process.exitCode = await main(process.argv.slice(2))
