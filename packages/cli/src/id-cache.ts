import { join } from 'node:path'
import { readIfThere, writePrivate } from './files.ts'
import { cacheFolder } from './folders.js'

// Ids that were looked up once: slugs never change, so `skerry run` need not ask again, and can work offline. Nothing
// here is secret, and losing it costs a question to the server.

const entriesMax = 500

const path = () => join(cacheFolder(), 'places.json')

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
    // A read-only home costs the next command a question, no more.
  }
}
