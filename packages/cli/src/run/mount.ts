import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Failure } from '../failure.ts'
import { cannotWrite } from '../files.ts'
import { formatOf, formatValues } from '../formats.ts'
import { warn } from '../output.ts'
import { leaveOutHint, type Selection } from '../selection.ts'
import { endAs, isEnding, onSignals, startChild } from './child.ts'
import { startGuard } from './guarded.ts'
import type { Masking } from './masking.ts'
import { type MountOptions, parseReads } from './mount-options.ts'
import { makePipe, mountExists, servePipe } from './pipe.ts'
import type { Prepared } from './prepare.ts'

/** Runs a program with a pipe or a file that contains the values. Its environment lacks them. Returns the exit code. */
export async function runMounted(
  file: string,
  argv: string[],
  { launch: { env, values } }: Prepared,
  { masking, ...options }: MountOptions & Selection & { masking: Masking | undefined },
): Promise<number> {
  const named = (options.mount ?? options.mountFile)!
  const { text, remarks } = formatValues(values, options.format ?? formatOf(named), {
    hintWithout: (names) => leaveOutHint(names.map(nameWithout(options.prefix)), options),
  })
  for (const remark of remarks) warn(remark)
  const outside = Object.entries(env).flatMap(([name, value]) => {
    const own = values.has(name) ? process.env[name] : value
    return own === undefined ? [] : [[name, own] as const]
  })
  const mounting = options.mount === undefined ? mountFile : mountPipe(parseReads(options.mountMaxReads))
  const { unmount, signal } = await untilMounted(mounting(resolve(named), named, text))
  if (signal !== undefined) {
    unmount()
    return endAs({ code: null, signal })
  }
  const ending = await startChild(file, argv, Object.fromEntries(outside), masking).done.finally(unmount)
  return endAs(ending)
}

/** The name of a secret without the prefix of `--prefix`, as `--except` takes it. */
const nameWithout =
  (prefix = '') =>
  (name: string) =>
    name.startsWith(prefix) ? name.slice(prefix.length) : name

/** Waits for the mount. A signal that asks this command to end waits too, so that the mount is removed first. */
async function untilMounted(mounting: Promise<() => void>) {
  let signal: NodeJS.Signals | undefined
  const stopListening = onSignals((one) => {
    if (isEnding(one)) signal = one
  })
  const unmount = await mounting.finally(stopListening)
  return { unmount, signal }
}

const mountPipe = (reads: number) => async (path: string, named: string, text: string) => {
  const spare = join(dirname(path), `.${basename(path).slice(0, 100)}.${crypto.randomUUID()}`)
  makePipe(path, named)
  try {
    const release = await startGuard(path, spare)
    const stop = servePipe({ path, named, spare, text, reads })
    return () => {
      stop()
      release()
    }
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

/** The values are written only after the process that will remove the file has started. */
async function mountFile(path: string, named: string, text: string) {
  const descriptor = create(path, named)
  let release = () => {}
  const unmount = () => {
    rmSync(path, { force: true })
    release()
  }
  try {
    release = await startGuard(path)
    writeFileSync(descriptor, text)
  } catch (error) {
    unmount()
    throw error instanceof Failure ? error : cannotWrite(named, error)
  } finally {
    closeSync(descriptor)
  }
  return unmount
}

/** Creates an empty file that only its owner can read. */
function create(path: string, named: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? mountExists(named) : cannotWrite(named, error)
  }
}
