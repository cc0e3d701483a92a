import type { Entries } from './known-state-meanings.ts'
import type { Memory } from './known-state-memory.ts'
import { changedSettings, type TargetSettings, wordsOfSettings } from './lease-target-settings.ts'
import type { Rollback } from './rollback.ts'

// The server supplies the address of a lease target. A client that followed a false address would send its password
// there.

/** A lease target in a response of the server. */
export interface ShownTarget extends TargetSettings {
  orgId: string
  id: string
  name?: string | undefined
}

/** Builds the entries to remember: the settings, under the target's id and under its name. */
export async function targetEntries(memory: Memory, { orgId, id, name, provider, config }: ShownTarget) {
  const settings: TargetSettings = { provider, config }
  const keys = name === undefined ? [id] : [id, `name ${name}`]
  return Promise.all(keys.map(async (key) => [await memory.place(orgId, 'target', key), settings] as const))
}

/**
 * Returns the entries to remember. A target with other settings than before is added to `found`. A target never changes
 * its settings. An honest server shows other settings only if the target was removed and its name was reused.
 */
export async function compareTargets(
  memory: Memory,
  targets: readonly ShownTarget[],
  found: Rollback[],
): Promise<Entries> {
  const entries: Entries = []
  for (const target of targets) {
    for (const [place, settings] of await targetEntries(memory, target)) {
      const known = await memory.read<TargetSettings>(place)
      const changed = known ? changedSettings(known, settings) : []
      const now = wordsOfSettings(changed)
      const what = target.name ?? target.id
      if (changed.length > 0 && !found.some((one) => one.kind === 'target_changed' && one.what === what))
        found.push({ kind: 'target_changed', environmentId: '', what, now })
      if (!known || changed.length > 0) entries.push([place, settings])
    }
  }
  return entries
}
