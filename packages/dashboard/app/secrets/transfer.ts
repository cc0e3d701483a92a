import { limits } from '@skerry/contract/limits'
import { SkerryError } from '@skerry/sdk/errors'
import type { Change, Outcome } from './changes.ts'
import type { Column, Layer } from './columns.ts'
import { resealFor } from './copying.ts'
import { countsOf, outcomeMessage } from './preview.tsx'
import { reloadSealed } from './queries.ts'
import { type Removal, removeAll } from './remove.ts'
import type { Undoable } from './undo.ts'
import type { useStoring } from './use-storing.ts'
import { proposeSealed, writeSecret } from './write.ts'

export interface Transfer extends Pick<ReturnType<typeof useStoring>, 'write' | 'offer' | 'noteQueued'> {
  kind: 'copy' | 'move'
  orgId: string
  source: Column
  target: Column & { own: Layer }
  changes: Change[]
  /** The names to store in the target. */
  chosen: string[]
  /** The names whose value the target has already, so that a move only deletes them from the source. */
  present: string[]
  note: string
}

export interface Transferred {
  failed: Outcome['failed']
  removal: Removal
  message: string
}

/**
 * Stores the chosen secrets in the target. A move then deletes those that are stored there from the source. A secret that
 * only waits for approval in the target stays in the source.
 */
export async function transfer(given: Transfer): Promise<Transferred> {
  const { kind, orgId, source, target, present, note, offer } = given
  const result = await storeAll(given)
  const there = await stillThere(given)
  result.failed.push(...present.filter((name) => !there.includes(name)).map((name) => changedIn(target, name)))
  const stored = [...result.written.keys(), ...there]
  const secrets = kind === 'move' ? stored.flatMap((name) => ownSecret(source, name)) : []
  const removal = await removeAll(orgId, source, secrets, note)
  const deleted = removal.deleted.map(({ id, name }) => ({ id, name }))
  const removed = deleted.length > 0 && { removed: { environmentId: source.environmentId, deleted } }
  const done = `${kind === 'copy' ? 'copied' : 'moved'} to ${target.name}`
  const written = kind === 'copy' ? result.written.size : removal.deleted.length + removal.queued.length
  const waiting = removal.queued.map(({ name }) => name)
  offer(target, result, { ...removed, waiting, messageOf: (writes) => undoMessage(target, writes) })
  const queued = countsOf(result).queued + removal.queued.length
  return { failed: result.failed, removal, message: outcomeMessage({ written, queued }, done) }
}

/** Says which writes can be undone. A secret that was stored but not deleted from its environment was only copied. */
function undoMessage({ name }: Column, { stored, removed }: Pick<Undoable, 'stored' | 'removed'>): string {
  const moved = new Set(removed?.deleted.map((one) => one.name))
  const copied = stored.filter((one) => !moved.has(one.name))
  return [
    outcomeMessage({ written: moved.size, queued: 0 }, `moved to ${name}`),
    outcomeMessage({ written: copied.length, queued: 0 }, `copied to ${name}`),
  ]
    .filter((text) => text !== '')
    .join(' ')
}

const ownSecret = ({ entries }: Column, name: string) => {
  const entry = entries.get(name)
  return entry?.own ? [entry.secret] : []
}

/** Returns the names whose value the target still has. Nothing is written there that a version would protect. */
async function stillThere({ orgId, target, changes, present }: Transfer): Promise<string[]> {
  if (present.length === 0) return []
  const now = await reloadSealed(orgId, target.environmentId)
  const base = new Map(changes.map((change) => [change.name, change.baseVersion]))
  return present.filter((name) => now?.secrets.get(name)?.version === base.get(name))
}

const changedIn = (target: Column, name: string) => ({
  name,
  error: new SkerryError('conflict', `${target.name} has another value of ${name} now; nothing was deleted`),
})

/** Seals all values for the target before the first one is sent. A protected target gets one change for all of them. */
async function storeAll(given: Transfer): Promise<Outcome> {
  const { orgId, source, target, changes, chosen, note, write, noteQueued } = given
  const { environmentId, own } = target
  if (chosen.length === 0) return { written: new Map(), queued: [], failed: [] }
  const base = new Map(changes.map((change) => [change.name, change.baseVersion]))
  const sealed = await resealFor(source, target, chosen)
  const put = (name: string) => ({ name, ciphertext: sealed.get(name) ?? '', baseVersion: base.get(name) ?? 0 })
  const shared = { orgId, environmentId, note, wrappedDek: own.wrappedDek }
  if (!target.isProtected || chosen.length > limits.changeGroupMax)
    return write(target, chosen, (name) => writeSecret({ ...shared, ...put(name) }))
  await proposeSealed({ ...shared, secrets: chosen.map(put) })
  noteQueued(target, chosen)
  return { written: new Map(), queued: chosen, failed: [] }
}
