import { Cancelled } from '../prompts.ts'
import type { Column, Entry } from './columns.ts'

/** What one name would become in an environment. */
export interface Change {
  name: string
  kind: 'added' | 'changed' | 'overrides' | 'unchanged' | 'queued'
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

/** How a write ended: with a new version, or in the queue for approval. */
export type Written = { version: number } | 'queued'

export interface Outcome {
  /** The versions that were made, by name. */
  written: ReadonlyMap<string, number>
  /** Names whose change waits for approval. */
  queued: string[]
  failed: { name: string; error: unknown }[]
}

const atOnce = 6

/** Writes them a few at a time. One that fails leaves the others; what failed is named. Closing a dialog stops it. */
export async function applyAll(
  names: string[],
  write: (name: string) => Promise<Written>,
  onProgress: (done: number) => void,
): Promise<Outcome> {
  const written = new Map<string, number>()
  const outcome: Outcome = { written, queued: [], failed: [] }
  const pending = [...names]
  let done = 0
  const work = async () => {
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      try {
        const result = await write(name)
        if (result === 'queued') outcome.queued.push(name)
        else written.set(name, result.version)
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
