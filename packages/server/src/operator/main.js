#!/usr/bin/env node
// Only this file and ../main.js, which starts the server, read the environment variables.
const { main } = await import('./program.ts')
process.exitCode = await main(process.argv.slice(2), process.env)
