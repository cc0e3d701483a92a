import type { LeaseTarget } from '@skerry/sdk/leases'
import { RollbackError } from '@skerry/sdk/rollback'
import { Failure } from '../failure.ts'
import { isStrict, memoryHere } from '../known-state.ts'
import { note } from '../output.ts'
import { ask, canAsk } from '../prompt.ts'
import type { Session } from '../session.ts'

/**
 * Checks that a target has the same settings as before. Call it before a password for the target is made, or its admin
 * credential is given. On a terminal it asks about changed settings. Without a terminal, and with SKERRY_STRICT=1, it
 * refuses them.
 */
export async function checkTarget(session: Session, target: LeaseTarget): Promise<void> {
  try {
    await session.knownState.writing.check({ targets: [await shownOf(session, target)] })
  } catch (error) {
    if (!(error instanceof RollbackError)) throw error
    if (isStrict() || !canAsk())
      throw new Failure(
        'refused',
        `${error.message}; nothing was done`,
        `the server may be lying; if someone on your team did this, accept it with \`skerry lease target trust ${target.name}\``,
      )
    note(`${error.message}. The server may be lying: ask your team who changed the target`)
    if (!(await ask(`Use lease target ${target.name} with these new settings?`)))
      throw new Failure('failure', 'cancelled', 'ask your team who changed the target')
    await acceptTarget(session, target)
  }
}

/** Describes what has changed about a target; undefined if nothing has. It remembers nothing. */
export async function changesOfTarget(session: Session, target: LeaseTarget): Promise<string | undefined> {
  let words: string | undefined
  const onRollback = ({ message }: RollbackError) => {
    words = message
  }
  const store = { ...memoryHere(), write: async () => {} }
  const looking = session.looking({ store, onRollback })
  await looking.knownState.writing.check({ targets: [await shownOf(session, target)] })
  return words
}

/** Accepts the settings that the server shows now as the known settings. */
export async function acceptTarget(session: Session, target: LeaseTarget): Promise<void> {
  const accepting = session.looking({ onRollback: ({ message }) => note(`accepted: ${message}`) })
  await accepting.knownState.writing.check({ targets: [await shownOf(session, target)] })
}

const shownOf = async (session: Session, { id, name, provider, config }: LeaseTarget) => {
  const { id: orgId } = await session.org()
  return { orgId, id, name, provider, config }
}
