import type { Application } from '@skerry/contract/apps'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { ownerColumns } from '../envs/owners.ts'
import { type Org, within } from '../orgs/scope.ts'

export type App = Checked<Static<typeof Application>>

const findApp = (db: Sql, org: Org, appId: string) =>
  db.row<App>(`select ${ownerColumns} from applications where org_id = $1 and id = $2`, [org.id, appId])

export const app = within<'app', 'appId', App>(
  'app',
  'appId',
  'As inside; the application is one of the organization',
  findApp,
)
