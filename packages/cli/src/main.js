#!/usr/bin/env node

// Read by any Node, to say in words which one is needed; what is loaded then takes it for granted.
const needed = 24
if (Number.parseInt(process.versions.node, 10) < needed) {
  process.stderr.write(`skerry: Node ${needed} or newer is needed, and this is ${process.versions.node}\n`)
  process.exit(1)
}
await import('./start.js')
