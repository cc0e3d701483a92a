/**
 * Loads the modules that would open the standard streams, without opening them.
 *
 * An open stream makes its pipe or terminal non-blocking for every process that shares it. The program that `skerry
 * run` becomes would then lose output to a slow reader. `process.stdout` and the others open on the first access, and
 * both modules access them at their first import. They are therefore imported here, while the properties are undefined.
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
