import type { KeyGrant } from '@skerry/contract/grants'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { grantColumns } from './scope.ts'

export interface NewGrant {
  id: string
  environmentId: string
  principalType: string
  principalId: string
  wrappedDek: string
  grantedBy: { type: string; id: string }
  now: string
}

/**
 * Undefined where the principal holds a grant already, or was removed or deleted since it was looked at: what it held went
 * then, and a key that came after would be there when it comes back. It stays until commit.
 */
export const insertGrant = (db: Tx, orgId: string, grant: NewGrant) =>
  db.row<Static<typeof KeyGrant>>(
    `insert into key_grants (org_id, id, environment_id, principal_type, principal_id, wrapped_dek, granted_by_type,
                             granted_by_id, created_at)
     select p.org_id, $2, $3, p.type, p.id, $6, $7, $8, $9::timestamptz
       from principals p where p.org_id = $1 and p.type = $4 and p.id = $5 for key share
     on conflict (org_id, environment_id, principal_type, principal_id) do nothing
     returning ${grantColumns}`,
    [
      orgId,
      grant.id,
      grant.environmentId,
      grant.principalType,
      grant.principalId,
      grant.wrappedDek,
      grant.grantedBy.type,
      grant.grantedBy.id,
      grant.now,
    ],
  )
