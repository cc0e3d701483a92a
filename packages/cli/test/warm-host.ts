/**
 * A process that runs one command line after another, like `skerry` in a process of its own: each has its own
 * arguments, environment, folder and standard streams. This saves loading the command, which is most of the cost of
 * one.
 */
import '../../crypto/test/derived-keys.ts'
import { closeSync, constants, openSync } from 'node:fs'
import { defaultPassphraseCost } from '@skerry/crypto/keyring'
import { cacheFolder, makePrivate } from '../src/folders.js'
import { main } from '../src/program.ts'
import type { CommandLine } from './warm.ts'

const { O_APPEND, O_RDONLY, O_WRONLY } = constants
const nowhere = { stdin: '/dev/null', stdout: '/dev/null', stderr: '/dev/null' }

// `skerry run` would replace this process with its program. Without `execve` it starts the program as a child.
Object.defineProperty(process, 'execve', { value: undefined })

// A keyring states its cost, so every command opens one of the lowest cost that is allowed. It takes a fifth of the time.
Object.assign(defaultPassphraseCost, { memoryKiB: 19_456, passes: 2 })

process.on('message', async ({ args, env, cwd, streams }: CommandLine) => {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  redirect(streams)
  process.exitCode = undefined
  // Makes the folder that src/start.js makes, which also caches compiled code there.
  try {
    makePrivate(cacheFolder())
  } catch {}
  const code = await main(args)
  // Closes the streams, so that a reader of the output sees its end.
  redirect(nowhere)
  process.send?.(code)
})
process.on('disconnect', () => process.exit())

/** A new descriptor is always the lowest free one. */
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
