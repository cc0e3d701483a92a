import type { Entries } from './known-state-meanings.ts'
import type { Memory } from './known-state-memory.ts'
import type { Rollback } from './rollback.ts'

// A server cannot make an override, but it can leave one out, or send an earlier one. Then a program silently gets another
// value. This module detects both.

/** All personal overrides of a person in an environment, decrypted. The known state does not store the values. */
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

/** Orders the names, so that equal states are stored as equal texts. */
function inOrder(known: KnownOverrides): KnownOverrides {
  const sorted: KnownOverrides = Object.create(null)
  for (const name of Object.keys(known).sort()) sorted[name] = known[name] as number
  return sorted
}

/**
 * Returns the entry to remember. Missing overrides and earlier revisions are added to `found`.
 *
 * @param accepts true if the caller remembers the entry only after somebody accepted what was found. Otherwise a
 *   missing override and the newest revision stay remembered, so that they are reported again.
 */
export async function compareOverrides(
  memory: Memory,
  { environmentId, overrides }: ShownOverrides,
  found: Rollback[],
  accepts: boolean,
): Promise<Entries> {
  const place = await placeOf(memory, environmentId)
  const before = await readKnown(memory, place)
  const shown = new Map(overrides.map(({ name, revision }) => [name, revision]))
  const after: KnownOverrides = accepts ? Object.create(null) : await readKnown(memory, place)
  for (const [name, revision] of shown) {
    if (revision < (before[name] ?? 0)) found.push({ kind: 'override_went_back', environmentId, what: name })
    after[name] = Math.max(revision, after[name] ?? 0)
  }
  for (const name of Object.keys(before).sort())
    if (!shown.has(name)) found.push({ kind: 'override_missing', environmentId, what: name })
  const entry = inOrder(after)
  return JSON.stringify(before) === JSON.stringify(entry) ? [] : [[place, entry]]
}

/**
 * Records that this client stored an override, or removed it: then `revision` is null. A loss is accepted by that, too.
 */
export async function noteOverride(
  memory: Memory,
  environmentId: string,
  { name, revision }: { name: string; revision: number | null },
): Promise<void> {
  const place = await placeOf(memory, environmentId)
  const known = await readKnown(memory, place)
  if (revision === null) delete known[name]
  else known[name] = revision
  await memory.write(place, inOrder(known))
}
