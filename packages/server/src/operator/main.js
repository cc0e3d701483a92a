#!/usr/bin/env node
// Beside ../main.js, which starts the server, the only file that reads the environment.
const { main } = await import('./program.ts')
process.exitCode = await main(process.argv.slice(2), process.env)
