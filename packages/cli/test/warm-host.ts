/**
 * A process that runs one command line after another, as `skerry` would in a process of its own: each has its own
 * arguments, environment, folder and standard streams. What it saves is loading the command, most of what one costs.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { cacheFolder, makePrivate } from '../src/folders.js'
import { main } from '../src/program.ts'
import type { CommandLine } from './warm.ts'

const { O_APPEND, O_RDONLY, O_WRONLY } = constants
const nowhere = { stdin: '/dev/null', stdout: '/dev/null', stderr: '/dev/null' }

// `skerry run` becomes its program, and this process has more to do. Without it, the program is started as a child.
Object.defineProperty(process, 'execve', { value: undefined })

process.on('message', async ({ args, env, cwd, streams }: CommandLine) => {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  redirect(streams)
  process.exitCode = undefined
  // As src/main.js does; it keeps compiled code there, too.
  try {
    makePrivate(cacheFolder())
  } catch {}
  const code = await main(args)
  // A reader of what was written sees its end.
  redirect(nowhere)
  process.send?.(code)
})
process.on('disconnect', () => process.exit())

/** A descriptor that is opened is the lowest that is free. */
function redirect({ stdin, stdout, stderr }: CommandLine['streams']): void {
  const files = [
    [stdin, O_RDONLY],
    [stdout, O_WRONLY | O_APPEND],
    [stderr, O_WRONLY | O_APPEND],
  ] as const
  for (const [descriptor, [path, flags]] of files.entries()) {
    closeSync(descriptor)
    if (openSync(path, flags) !== descriptor) throw new Error(`descriptor ${descriptor} was taken meanwhile`)
  }
}
