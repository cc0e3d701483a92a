import { join } from 'node:path'
import { readIfThere, writePrivate } from './files.ts'
import { stateFolder } from './folders.js'

// Group environments that commands on this machine deleted, or removed from an application's environment, and which may
// therefore be missing. An entry is `<group's slug> <environment>`, followed by the environment from which it was
// removed. A person named the slug, so a malicious server cannot use an entry to excuse a missing layer of another
// group.

const path = () => join(stateFolder(), 'removed-layers.json')
const entriesMax = 10_000

/** Remembers environments of a group that were deleted or, with `outOf`, removed from another environment. */
export function noteRemoved(group: string, environments: readonly { id: string }[], outOf?: string): void {
  write([...read(), ...environments.map(({ id }) => entryOf(group, id, outOf))])
}

const entryOf = (...words: (string | undefined)[]) => words.filter((word) => word !== undefined).join(' ')

/** Whether a layer, `shared:production`, was deleted here, or removed from one of these environments. */
export function isRemoved(layer: string, envId: string, shown: readonly string[]): boolean {
  const entries = read()
  const group = layer.split(':')[0]!
  return [undefined, ...shown].some((outOf) => entries.includes(entryOf(group, envId, outOf)))
}

/** Forgets entries whose layer is back, so that the layer is missed if it disappears again. */
export function noteReturned(shown: readonly string[]): void {
  const entries = read()
  const isBack = ([, envId, outOf]: string[]) =>
    shown.includes(envId!) && (outOf === undefined || shown.includes(outOf))
  const rest = entries.filter((entry) => !isBack(entry.split(' ')))
  if (rest.length < entries.length) write(rest)
}

function read(): string[] {
  try {
    const parsed: unknown = JSON.parse(readIfThere(path()) ?? '[]')
    return Array.isArray(parsed) ? parsed.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

function write(entries: string[]): void {
  try {
    writePrivate(path(), JSON.stringify([...new Set(entries)].slice(-entriesMax)))
  } catch {
    // The next command then asks about the missing layer, which is the safe side.
  }
}
