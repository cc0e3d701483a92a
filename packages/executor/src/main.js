#!/usr/bin/env node

// Read by any Node, to say in words which one is needed; what is loaded then takes it for granted.
const needed = 24
if (Number.parseInt(process.versions.node, 10) < needed) {
  process.stderr.write(`skerry-executor: Node ${needed} or newer is needed, and this is ${process.versions.node}\n`)
  process.exit(1)
}
const { main } = await import('./program.ts')
process.exitCode = await main(process.argv.slice(2))
