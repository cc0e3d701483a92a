import type { AuditEntry } from '@skerry/contract/audit/schemas'
import type { Static } from 'typebox'

export type Entry = Static<typeof AuditEntry>

/** The columns that the API shows. Sealing uses the same, so that a reader can check what was sealed. */
export const entryColumnsOf = (alias: string): string =>
  ['id', 'action', 'actor_type', 'actor_id', 'resource_type', 'resource_id', 'metadata', 'ip_address', 'user_agent']
    .concat(['request_id', 'created_at'])
    .map((column) => `${alias}.${column}`)
    .join(', ')
