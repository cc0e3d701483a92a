import { join } from 'node:path'
import { readIfThere, writePrivate } from './files.ts'
import { stateFolder } from './folders.js'

// Environments of groups that commands on this machine deleted, or took out of an application's: that they are missing is
// no news. An entry is `<group's slug> <environment>`, and behind them what it was taken out of. The slug is what a person
// named: a server that lies about what is in that group cannot have others excused.

const path = () => join(stateFolder(), 'removed-layers.json')
const entriesMax = 10_000

/** Environments of a group that were deleted or, with `outOf`, taken out of another. */
export function noteRemoved(group: string, environments: readonly { id: string }[], outOf?: string): void {
  write([...read(), ...environments.map(({ id }) => entryOf(group, id, outOf))])
}

const entryOf = (...words: (string | undefined)[]) => words.filter((word) => word !== undefined).join(' ')

/** Whether a layer, `shared:production`, was deleted here, or taken out of one of these environments. */
export function isRemoved(layer: string, envId: string, shown: readonly string[]): boolean {
  const entries = read()
  const group = layer.split(':')[0]!
  return [undefined, ...shown].some((outOf) => entries.includes(entryOf(group, envId, outOf)))
}

/** What is shown beside each other again would be missed again. */
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
    // Then the next command asks about what is missing, which is the safe side.
  }
}
