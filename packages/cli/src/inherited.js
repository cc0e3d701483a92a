/**
 * Loads the modules that would open the standard streams, without opening them.
 *
 * A stream that is opened makes its pipe or terminal non-blocking, for everyone who shares it: also for the program that
 * `skerry run` becomes, which then loses what it writes to a slow reader. `process.stdout` and the others open at the
 * first look, and both modules look when they are first imported, as dependencies do. So they are imported here, while
 * there is nothing to see.
 */
export async function leaveStreamsClosed() {
  const names = /** @type {const} */ (['stdin', 'stdout', 'stderr'])
  const streams = names.map((name) => Object.getOwnPropertyDescriptor(process, name))
  for (const name of names)
    Object.defineProperty(process, name, { get: () => undefined, configurable: true, enumerable: true })
  await import('node:process')
  await import('node:util')
  for (const [i, name] of names.entries()) Object.defineProperty(process, name, streams[i] ?? {})
}
