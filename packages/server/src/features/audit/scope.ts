import type { AuditEntry } from '@skerry/contract/audit/schemas'
import type { Static } from 'typebox'

export type Entry = Static<typeof AuditEntry>

/** As the API shows an entry: what is sealed is what anyone can read. */
export const entryColumnsOf = (alias: string): string =>
  ['id', 'action', 'actor_type', 'actor_id', 'resource_type', 'resource_id', 'metadata', 'ip_address', 'user_agent']
    .concat(['request_id', 'created_at'])
    .map((column) => `${alias}.${column}`)
    .join(', ')
