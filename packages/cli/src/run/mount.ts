import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Failure } from '../failure.ts'
import { cannotWrite } from '../files.ts'
import type { ExportFormat } from '../formats/names.ts'
import { formatOf, formatValues } from '../formats.ts'
import { warn } from '../output.ts'
import { leaveOutHint, type Selection } from '../selection.ts'
import { endAs, startChild } from './child.ts'
import { startGuard } from './guarded.ts'
import type { Prepared } from './prepare.ts'

interface Mount extends Selection {
  mount: string
  format?: ExportFormat
  mask?: boolean
}

/** Runs a program with a file that contains the values, which its environment then lacks. Returns the exit code. */
export async function runMounted(file: string, argv: string[], prepared: Prepared, options: Mount): Promise<number> {
  const { env, values } = prepared.launch
  const { text, remarks } = formatValues(values, options.format ?? formatOf(options.mount), {
    hintWithout: (names) => leaveOutHint(names.map(nameWithout(options.prefix)), options),
  })
  for (const remark of remarks) warn(remark)
  const outside = Object.entries(env).flatMap(([name, value]) => {
    const own = values.has(name) ? process.env[name] : value
    return own === undefined ? [] : [[name, own] as const]
  })
  const path = resolve(options.mount)
  const descriptor = create(path, options.mount)
  try {
    await startGuard(path)
    writeFileSync(descriptor, text)
    closeSync(descriptor)
    return endAs(await startChild(file, argv, Object.fromEntries(outside), options.mask ? values : undefined).done)
  } finally {
    rmSync(path, { force: true })
  }
}

/** The name of a secret without the prefix of `--prefix`, as `--except` takes it. */
const nameWithout =
  (prefix = '') =>
  (name: string) =>
    name.startsWith(prefix) ? name.slice(prefix.length) : name

/** Creates an empty file. The values are written only after the process that will remove the file has started. */
function create(path: string, named: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotWrite(named, error)
    throw new Failure('failure', `cannot mount ${named}: it exists`, 'remove it, or name another path')
  }
}
