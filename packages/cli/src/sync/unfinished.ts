import type { SyncBinding } from '@skerry/sdk/internal/sync'
import { describe, toFailure } from '../failure.ts'
import { tellGivenKeys } from '../given-keys.ts'
import type { OpenPlace } from '../grants.ts'
import { note, warn } from '../output.ts'
import type { Session } from '../session.ts'
import type { Bound } from './find.ts'

// A command that binds an environment gives the server keys, and may fail after that. The functions here say what the
// server has then, and which command comes next.

interface Given {
  orgId: string
  connection: Bound['connection']
  layers: readonly OpenPlace[]
}

/** Deletes a binding before its first push. The server forgets the keys with it, unless another binding needs them. */
export async function takeBack(
  session: Session,
  binding: SyncBinding,
  { orgId, connection, layers }: Given,
): Promise<void> {
  try {
    await session.client.sync.deleteBinding({ params: { orgId, bindingId: binding.id } })
  } catch (error) {
    warn(`the binding could not be deleted again: ${describe(toFailure(error))}`)
    return tellLeft(binding, layers)
  }
  note('nothing was pushed, and the binding was deleted again')
  await tellGivenKeys(session, connection.id, layers)
}

/** After a binding was created, and can neither be used nor deleted now. */
export function tellLeft({ id }: SyncBinding, layers: readonly OpenPlace[]): void {
  note(`the server has the binding ${id}, and can read ${labelsOf(layers)}`)
  note(`push with \`skerry sync resume ${id}\`, or undo it with \`skerry sync unbind ${id}\``)
}

const labelsOf = (layers: readonly OpenPlace[]) => layers.map(({ label }) => label).join(', ')
