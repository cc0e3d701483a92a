import type { VaultSlot } from '@skerry/contract/vault/facts'
import type { Sql } from '../../../db/database.ts'
import type { ExecutorPrincipal } from '../../../kernel/principal.ts'
import type { ConnectionStatus, ProjectStatus } from '../lifecycles.ts'

/** A connection with the current revision of one slot. The revision is null if the slot is empty. */
type Releasable = { providerId: string; status: ConnectionStatus; projectStatus: ProjectStatus; own: boolean } & (
  | { revision: null; ciphertext: null; wrappedDek: null; keyThumbprint: null }
  | { revision: number; ciphertext: string; wrappedDek: string; keyThumbprint: string }
)

/** `own` is true if the credential is wrapped to a key that this executor has registered. */
export const findReleasable = (
  db: Sql,
  { orgId, projectId, id: executorId }: ExecutorPrincipal,
  connectionId: string,
  slot: string,
) =>
  db.row<Releasable>(
    `select c.provider_id, c.status, p.status as project_status, v.revision, v.ciphertext, v.wrapped_dek, v.key_thumbprint,
            exists (select from vault_wrapping_keys w
                     where w.org_id = $1 and w.executor_id = $4 and w.thumbprint = v.key_thumbprint) as own
       from vault_connections c
       join vault_projects p on p.org_id = c.org_id and p.id = c.project_id
       left join vault_credentials v on v.org_id = c.org_id and v.connection_id = c.id and v.slot = $5
      where c.org_id = $1 and c.project_id = $2 and c.id = $3
      order by v.revision desc nulls last limit 1`,
    [orgId, projectId, connectionId, executorId, slot],
  )

/** Lists the key to which the current revision of each slot is wrapped. */
export const listSlotKeys = (db: Sql, { orgId, id }: { orgId: string; id: string }) =>
  db.rows<{ slot: VaultSlot; keyThumbprint: string }>(
    `select distinct on (slot) slot, key_thumbprint from vault_credentials where org_id = $1 and connection_id = $2
      order by slot, revision desc`,
    [orgId, id],
  )
