import type { ChangeRequest, Queued, SecretChange } from '@skerry/sdk/secrets'
import { note, type Output } from '../output.ts'
import { count } from '../units.ts'

/** Options of a command whose writes wait for approval in a protected environment. */
export interface Queueing {
  note?: string
  /** The command either writes, or fails with the exit code of a conflict. It proposes nothing. */
  failIfQueued?: boolean
}

export const noteOf = (flags: Queueing) => (flags.note === undefined ? {} : { note: flags.note })
/** A change request without its ciphertext, which only the key of a reader can open. */
export function withoutCiphertext<C extends ChangeRequest>({ ciphertext, ...rest }: C): Omit<C, 'ciphertext'> {
  return rest
}

/** Reports a queued change. Nothing is written yet, but the command has succeeded. */
export function tellQueued({ changeRequest }: Queued, label: string): Output {
  noteQueued([changeRequest], label)
  return { json: { queued: true, changeRequest: withoutCiphertext(changeRequest) } }
}

export function noteQueued(changes: SecretChange[], label: string): void {
  if (changes.length === 0) return
  for (const { id, action, secretName, requiredApprovals } of changes) {
    const approvals = count(requiredApprovals, 'approval')
    note(`queued ${verbs[action]} ${secretName} as ${id}: ${label} is protected, and this needs ${approvals}`)
  }
  const ids = [...new Set(changes.map(({ id, groupId }) => groupId ?? id))].join(' ')
  note(`an admin reviews it with \`skerry changes show ${ids}\`; take it back with \`skerry changes withdraw ${ids}\``)
}

const verbs = { put: 'the write of', delete: 'the deletion of', restore: 'the restore of' } as const
