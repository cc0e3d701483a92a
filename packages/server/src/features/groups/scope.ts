import type { Group as GroupRow } from '@skerry/contract/groups/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { ownerColumns } from '../../model/environments/owners.ts'
import { type Org, within } from '../orgs/scope.ts'

export type Group = Checked<Static<typeof GroupRow>>

export const findGroup = (db: Sql, org: Org, groupId: string) =>
  db.row<Group>(`select ${ownerColumns} from groups where org_id = $1 and id = $2`, [org.id, groupId])

export const group = within<'group', 'groupId', Group>(
  'group',
  'groupId',
  'The group must belong to the organization',
  findGroup,
)
