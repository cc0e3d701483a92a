import { Cancelled } from '../prompts.ts'
import type { Column, Entry } from './columns.ts'

/** The change of one name in an environment. */
export interface Change {
  name: string
  kind: 'added' | 'changed' | 'overrides' | 'unchanged' | 'queued'
  /** The version that the value was compared with, or 0 for none. */
  baseVersion: number
}

/** Returns what a new value would change in a column. `same` says whether it equals the current value. */
export function changeOf(name: string, entry: Entry | undefined, same: boolean): Change {
  if (!entry) return { name, kind: 'added', baseVersion: 0 }
  const baseVersion = entry.own ? entry.secret.version : 0
  if (same) return { name, kind: 'unchanged', baseVersion }
  return { name, kind: entry.own ? 'changed' : 'overrides', baseVersion }
}

/** The result of a write: a new version, or a place in the approval queue. */
export type Written = { version: number } | 'queued'

export interface Outcome {
  /** The new versions, by name. */
  written: ReadonlyMap<string, number>
  /** Names whose change waits for approval. */
  queued: string[]
  failed: { name: string; error: unknown }[]
}

const atOnce = 6

/**
 * Writes the secrets, up to six at once. A failed one is listed and does not stop the others. If the person cancels a
 * prompt, no more are written.
 */
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
