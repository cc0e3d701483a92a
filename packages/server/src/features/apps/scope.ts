import type { Application } from '@skerry/contract/apps/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo } from '../../kernel/principal.ts'
import { ownerColumns } from '../../model/environments/owners.ts'
import { type InOrg, type Org, refusesTokens } from '../orgs/scope.ts'

export type App = Checked<Static<typeof Application>>

const findApp = (db: Sql, org: Org, appId: string) =>
  db.row<App>(`select ${ownerColumns} from applications where org_id = $1 and id = $2`, [org.id, appId])

const isBoundThere = async (db: Sql, app: App, bound: string): Promise<boolean> =>
  (await db.row('select 1 from environments where org_id = $1 and id = $2 and application_id = $3', [
    app.orgId,
    bound,
    app.id,
  ])) !== undefined

export const app = <S extends InOrg, N extends string>(base: Access<S, N>): Access<S & { app: App }, N | 'appId'> =>
  narrowed(
    'app',
    'The application must belong to the organization' +
      (refusesTokens(base)
        ? ''
        : '. A service token that is bound to an environment can use only the application of this environment'),
    base,
    async (scope: S, { db }, params: Record<N | 'appId', string>) => {
      const found = await findApp(db, scope.org, params.appId)
      if (!found) throw fail('not_found', 'no such app')
      const bound = boundTo(scope.principal)
      if (bound !== null && !(await isBoundThere(db, found, bound)))
        throw fail('forbidden', 'this token is bound to another application')
      return { ...scope, app: found }
    },
  )
