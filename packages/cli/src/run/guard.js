import { closeSync, constants, lstatSync, openSync, rmSync } from 'node:fs'

// Removes files, named pipes, or folders with their content, when the process that started this one has ended. The pipe
// between them then closes, however that process ended. This process ignores signals, which are meant for the other one.
// It is plain JavaScript, so that it starts fast.

const [, , ...paths] = process.argv
/** @param {string} path */
const isPipe = (path) => lstatSync(path, { throwIfNoEntry: false })?.isFIFO() === true
// A named pipe is gone after it was read, and the program may then write a file of its own there.
const guardsPipe = isPipe(String(paths[0]))

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => {})
process.stdin.resume().on('close', () => {
  for (const path of paths) {
    if (!guardsPipe) rmSync(path, { recursive: true, force: true })
    else if (isPipe(path)) removePipe(path)
  }
})
process.stdout.write('ready\n')

/**
 * Removes a named pipe. A program that waits for it gets an end, because opening it for writing wakes that program.
 *
 * @param {string} path
 */
function removePipe(path) {
  let descriptor
  try {
    descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    // Nobody waits.
  }
  rmSync(path, { force: true })
  if (descriptor !== undefined) closeSync(descriptor)
}
