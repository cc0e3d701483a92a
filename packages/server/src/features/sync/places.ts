import type { SyncFacts, SyncSession } from '@skerry/providers/sync/provider'
import type { Context } from '../../http/context.ts'
import { lockBindings, updatePlaces } from './binding-store.ts'
import { resetLedger } from './ledger-store.ts'
import { findMeeting } from './neighbours.ts'
import type { Taken } from './outcome.ts'
import { holdPlaces } from './run-store.ts'
import { Stopped } from './send.ts'
import { placesThere } from './session.ts'
import { Unreadable } from './values.ts'

/**
 * Asks a destination that goes by several names where it is, before anything is written. A name may lead to another app than
 * last time, because the first one was renamed: then nothing there is this binding’s, and another binding may write there.
 */
export async function settlePlaces(
  context: Context,
  taken: Taken,
  session: SyncSession,
  facts: SyncFacts,
): Promise<Taken> {
  const { run, binding } = taken
  const places = await placesThere(session, binding.destination)
  if (places === null || isSame(places, binding.places)) return taken
  const moved = { ...binding, places }
  await context.db.transaction(async (tx) => {
    await lockBindings(tx, { id: binding.orgId })
    const more = places.filter((place) => !binding.places.includes(place))
    const held = await holdPlaces(tx, binding.orgId, more, run.id)
    if (held.length < more.length) throw new Stopped('Another binding is writing to the same destination right now.')
    const met = await findMeeting(tx, moved, facts.limits)
    if (met) throw new Unreadable(`The binding ${met.bindingId} writes ${met.name} to the same destination.`)
    await updatePlaces(tx, moved)
    // Until now only the words of the binding were known, and they still lead to the same place.
    if (!isSame(binding.places, facts.places)) await resetLedger(tx, binding.orgId, binding.id)
  })
  return { ...taken, binding: moved }
}

const isSame = (one: readonly string[], other: readonly string[]) => one.join('\n') === other.join('\n')
