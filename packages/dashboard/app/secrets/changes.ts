import { Cancelled } from '../prompts.ts'
import type { Column, Entry } from './columns.ts'

/** What one name would become in an environment. */
export interface Change {
  name: string
  kind: 'added' | 'changed' | 'overrides' | 'unchanged'
  /** The version that it was compared with; 0: none. */
  baseVersion: number
}

/** What a new value would do to a column. `same`: whether it equals the present one. */
export function changeOf(name: string, entry: Entry | undefined, same: boolean): Change {
  if (!entry) return { name, kind: 'added', baseVersion: 0 }
  const baseVersion = entry.own ? entry.secret.version : 0
  if (same) return { name, kind: 'unchanged', baseVersion }
  return { name, kind: entry.own ? 'changed' : 'overrides', baseVersion }
}

export interface Outcome {
  written: number
  queued: number
  failed: { name: string; error: unknown }[]
}

const atOnce = 6

/** Writes them a few at a time. One that fails leaves the others; what failed is named. Closing a dialog stops it. */
export async function applyAll(
  names: string[],
  write: (name: string) => Promise<'written' | 'queued'>,
  onProgress: (done: number) => void,
): Promise<Outcome> {
  const outcome: Outcome = { written: 0, queued: 0, failed: [] }
  const pending = [...names]
  let done = 0
  const work = async () => {
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      try {
        outcome[await write(name)]++
      } catch (error) {
        if (error instanceof Cancelled) throw error
        outcome.failed.push({ name, error })
      }
      onProgress(++done)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return outcome
}

export const namesOfColumn = (column: Column) => [...column.entries.keys()].sort()
