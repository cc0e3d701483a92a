import type { MachineClient } from '@skerry/contract/machine-clients/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type Org, within } from '../orgs/scope.ts'

export type Client = Checked<Static<typeof MachineClient>>

/** The columns include no hash. */
export const clientColumns = 'c.id, c.org_id, c.name, u.last_used_at, c.revoked_at, c.created_at'
export const clientsWithUses =
  'machine_clients c left join machine_client_uses u on (u.org_id, u.client_id) = (c.org_id, c.id)'

const findClient = (db: Sql, org: Org, clientId: string) =>
  db.row<Client>(`select ${clientColumns} from ${clientsWithUses} where c.org_id = $1 and c.id = $2`, [
    org.id,
    clientId,
  ])

export const client = within<'client', 'clientId', Client>(
  'client',
  'clientId',
  'The machine client must belong to the organization',
  findClient,
  'machine client',
)
