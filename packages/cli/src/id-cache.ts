import { join } from 'node:path'
import { readIfThere, writePrivate } from './files.ts'
import { cacheFolder } from './folders.js'

// A cache of ids that were looked up. Slugs never change, so `skerry run` needs no second request and can work offline.
// Nothing in it is secret, and losing it costs one request.

const entriesMax = 500

const path = () => join(cacheFolder(), 'places.json')

/** The key of an environment’s id. `skerry run` remembers it, and keeps a copy of the values. */
export const idKeyOf = (url: string, org: string, label: string): string => `env ${url} ${org} ${label}`

export function recall(key: string): string | undefined {
  const value = read()[key]
  return typeof value === 'string' ? value : undefined
}

export function remember(key: string, value: string): void {
  write([...Object.entries(read()).filter(([other]) => other !== key), [key, value]])
}

export function forget(key: string): void {
  write(Object.entries(read()).filter(([other]) => other !== key))
}

function read(): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(readIfThere(path()) ?? '{}')
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function write(entries: [string, unknown][]): void {
  try {
    writePrivate(path(), JSON.stringify(Object.fromEntries(entries.slice(-entriesMax))))
  } catch {
    // A read-only home folder only costs the next command another request.
  }
}
