#!/usr/bin/env node
import { existsSync } from 'node:fs'

// Every version of Node can read this file, so that it can say which version is needed. The loaded code requires that
// version.
const needed = 24
if (Number.parseInt(process.versions.node, 10) < needed) {
  const root = decodeURIComponent(new URL('../../../', import.meta.url).pathname)
  const node = `${root}node_modules/.bin/node`
  const next = existsSync(node) ? `; use the Node of the checkout: ${node} ${root}packages/cli/src/main.js` : ''
  process.stderr.write(`skerry: Node ${needed} or newer is needed, and this is ${process.versions.node}${next}\n`)
  process.exit(1)
}
await import('./start.js')
