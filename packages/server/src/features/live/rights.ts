import type { AuditAction } from '@skerry/contract/actions'
import type { Database } from '../../db/database.ts'
import type { Faults } from '../../kernel/faults.ts'
import { findRights } from './store.ts'
import { end, type Stream, type Streams } from './streams.ts'

interface RightsDeps {
  db: Database
  faults: Faults
  now: () => Date
}

/** Changes after which a caller of the organization may have another role, or none. */
export const changesRights: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'org.mfa_policy_updated',
  'member.role_changed',
  'member.removed',
  'session.ended',
  'cli_session.revoked',
  'token.revoked',
  'token.deleted',
  'user.identity_linked',
  'user.totp_enrolled',
  'user.totp_removed',
  'user.sign_in_passkey_enrolled',
  'user.sign_in_passkey_removed',
])

/**
 * Ends the streams of callers who may no longer watch. One statement looks up all of them. If it fails, their streams
 * end, because nobody knows what they may see.
 */
export function openRightsCheck({ db, faults, now }: RightsDeps, streams: Streams) {
  const due = new Set<Stream>()
  let isChecking = false
  const checkDue = async () => {
    isChecking = true
    while (due.size > 0) {
      const checked = [...due].filter((stream) => stream.response !== null)
      due.clear()
      const at = now()
      try {
        const rights = await findRights(db.lookups, checked, at.toISOString())
        for (const stream of checked) if (!mayGoOn(stream, rights.get(stream), at.getTime())) end(stream)
      } catch (error) {
        for (const stream of checked) end(stream)
        faults.warn('could not check who may watch events', error)
      }
    }
    isChecking = false
  }
  return {
    check(some: Iterable<Stream> = streams.all): void {
      for (const stream of some) due.add(stream)
      if (!isChecking) void checkDue()
    },
  }
}

/** A stream with another role ends too: its client connects again, and then hears what the new role may know. */
const mayGoOn = ({ isAdmin, endsAtMs }: Stream, role: string | undefined, nowMs: number): boolean =>
  role !== undefined && isAdmin === (role !== 'member') && nowMs < endsAtMs
