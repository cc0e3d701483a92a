import type { sync } from '@skerry/contract/sync/endpoints'
import type { In, Out } from '../../http/route.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { withSettings } from './bindings.ts'
import { decide } from './decide.ts'
import { type Connection, findConnection, type OnBinding } from './scope.ts'
import { asRefusal, describe, openDestination } from './session.ts'
import { stateOf } from './state.ts'
import { readValues, Unreadable } from './values.ts'

/** What a run would do. Under other settings that name another place, nothing there is this binding’s own. */
export async function plan(input: In<typeof sync.plan, OnBinding>): Out<typeof sync.plan> {
  const { context, db, org, body } = input
  const connection = (await findConnection(db, org, input.binding.connectionId)) as Connection
  const binding = await withSettings(context, connection, input.binding, body)
  const facts = await describe(connection.config, binding.destination)
  try {
    const resolved = await readValues(context, binding, instant(context))
    const session = await openDestination(context, connection, binding.destination, resolved.values.values())
    const state = await stateOf(context, { binding, session, facts, resolved, adopt: [] })
    const moves = binding.places.join('\n') !== input.binding.places.join('\n')
    const { forget, kept, refused, ...decision } = decide(moves ? { ...state, ledger: new Map() } : state)
    const { notes } = await session.verify()
    return { plan: { ...decision, refused: [...refused, ...kept], effects: [...facts.effects, ...notes] } }
  } catch (error) {
    if (error instanceof Unreadable) throw fail('conflict', error.message)
    throw asRefusal(error)
  }
}
