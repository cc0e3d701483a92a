import type { Entries } from './known-state-meanings.ts'
import type { Memory } from './known-state-memory.ts'
import type { Rollback } from './rollback.ts'

// A server cannot make an override, but it can leave one out, or send an earlier one. Then a program silently gets another
// value. This module detects both.

/** The personal overrides that an answer shows, decrypted. Values are not stored. */
export interface ShownOverrides {
  environmentId: string
  overrides: readonly { name: string; revision: number }[]
}

/** The newest revision of each name. */
type KnownOverrides = Record<string, number>

const placeOf = (memory: Memory, environmentId: string) => memory.ownPlace('overrides', environmentId)

/** Copies the remembered revisions without a prototype, because a secret may be called `__proto__`. */
const readKnown = async (memory: Memory, place: string): Promise<KnownOverrides> =>
  Object.assign(Object.create(null), await memory.read<KnownOverrides>(place))

/** Returns the entry to remember. Missing overrides and earlier revisions are added to `found`. */
export async function compareOverrides(
  memory: Memory,
  { environmentId, overrides }: ShownOverrides,
  found: Rollback[],
): Promise<Entries> {
  const place = await placeOf(memory, environmentId)
  const before = await readKnown(memory, place)
  const after: KnownOverrides = Object.create(null)
  for (const { name, revision } of overrides) {
    if (revision < (before[name] ?? 0)) found.push({ kind: 'override_went_back', environmentId, what: name })
    after[name] = revision
  }
  for (const name of Object.keys(before).sort())
    if (after[name] === undefined) found.push({ kind: 'override_missing', environmentId, what: name })
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [[place, after]]
}

/** Records that this client stored an override, or removed it: then `revision` is null. */
export async function noteOverride(
  memory: Memory,
  environmentId: string,
  { name, revision }: { name: string; revision: number | null },
): Promise<void> {
  const place = await placeOf(memory, environmentId)
  const known = await readKnown(memory, place)
  if (revision === null) delete known[name]
  else known[name] = revision
  await memory.write(place, known)
}
