import { readFileSync, writeSync } from 'node:fs'
import { main } from '../../src/program.ts'

// Runs several command lines in one process: `node several.ts <file>`. The file has an array of arguments for each.
// Before a command line runs, its number is written to both streams.

// `skerry run` and `skerry shell` would become their programs, and the next lines would not run.
Object.defineProperty(process, 'execve', { value: undefined })

const lines = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as string[][]
for (const [at, line] of lines.entries()) {
  for (const stream of [1, 2]) writeSync(stream, `\n@@@${at}\n`)
  process.exitCode = undefined
  await main(line)
}
process.exitCode = 0
