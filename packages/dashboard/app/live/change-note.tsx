import { type AuditAction, auditActions } from '@skerry/contract/actions'
import { useMemberNames } from './member-names.ts'
import type { RecentChange } from './state.ts'

/** Says what somebody else has just changed, in the words of the audit log. */
export function ChangeNote({ orgId, change }: { orgId: string; change: RecentChange }) {
  const nameOf = useMemberNames(orgId, true)
  const { label } = auditActions[change.action as AuditAction] ?? { label: 'Changed' }
  const name = nameOf(change.actorId) ?? (change.actorType === 'service_token' ? 'a service token' : undefined)
  return <>{name === undefined ? `${label} just now` : `${label} by ${name} just now`}</>
}
