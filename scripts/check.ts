import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

// Runs every check that needs no running server, two at once, because the compiler takes most of the time and uses one
// processor. The output of each check is printed in one piece, in the order in which they end.

/** The slowest checks come first. */
const checks = [
  'typecheck',
  'imports',
  'typecheck:examples',
  'typecheck:dashboard',
  'typecheck:connect',
  'unused',
  'lint',
  'rules',
  'lengths',
]

const waiting = [...checks]

async function next(): Promise<void> {
  const name = waiting.shift()
  if (name === undefined) return
  const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const said = (await Promise.all([text(child.stdout), text(child.stderr)])).join('').trim()
  const code = await ended
  console.log(code === 0 ? `${name}: passed` : `${name}: failed\n${said}`)
  if (code !== 0) process.exitCode = 1
  await next()
}

await Promise.all([next(), next()])
