import type { AccessRequest as Row } from '@skerry/contract/access-requests/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { environmentLabel, labelJoins } from '../../model/environments/label.ts'
import { grantInForce } from '../../model/grants/table.ts'
import { type InOrg, isAdmin } from '../orgs/scope.ts'

export type AccessRequestRow = Static<typeof Row>
type AccessRequest = Checked<AccessRequestRow>
export type OnRequest = InOrg & { accessRequest: AccessRequest }

/** Condition on `access_request_environments x` of `access_requests r`: this principal holds the key. */
export const holds = (type: string, id: string, now: string) => `exists (
  select from key_grants k where k.org_id = x.org_id and k.environment_id = x.environment_id
                             and k.principal_type = ${type} and k.principal_id = ${id} and ${grantInForce(now)})`

/** A column of `access_request_environments x` of `access_requests r`, as text: the person’s access ends by itself then. */
const endsAt = `(
  select to_char(k.ends_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from key_grants k
   where k.org_id = x.org_id and k.environment_id = x.environment_id and k.principal_type = 'user' and k.principal_id = r.user_id)`

/** The columns of `access_requests r` for a caller. A request whose time is up shows as expired, even before the job runs. */
export const requestColumns = (now: `$${number}`, callerType: `$${number}`, callerId: `$${number}`) => `r.id,
  case when r.status = 'open' and r.expires_at <= ${now} then 'expired' else r.status end as status,
  r.user_id, r.reason, r.for_seconds, r.created_at, r.expires_at, r.closed_at, r.closed_by_type, r.closed_by_id, r.answer,
  (select coalesce(jsonb_agg(jsonb_build_object('environmentId', x.environment_id, 'label', ${environmentLabel},
                                                'granted', ${holds(`'user'`, 'r.user_id', now)},
                                                'endsAt', ${endsAt},
                                                'held', ${holds(callerType, callerId, now)})
                             order by ${environmentLabel}), '[]')
     from access_request_environments x
     join environments e on e.org_id = x.org_id and e.id = x.environment_id
     ${labelJoins}
    where x.org_id = r.org_id and x.request_id = r.id) as environments`

const findRequest = (db: Sql, { org, principal }: InOrg, id: string, now: string) =>
  db.row<AccessRequest>(
    `select ${requestColumns('$3', '$4', '$5')} from access_requests r where r.org_id = $1 and r.id = $2`,
    [org.id, id, now, principal.type, principal.id],
  )

/** Finds a request. For members who are not admins, the requests of others do not exist. */
export const accessRequest = <S extends InOrg, N extends string>(
  base: Access<S, N>,
): Access<S & OnRequest, N | 'accessRequestId'> =>
  narrowed(
    'accessRequest',
    'The request for access must belong to the organization' +
      ('member' in base.words ? '. A caller who is not an admin can use only their own requests' : ''),
    base,
    async (scope: S, { db, context }, params: Record<N | 'accessRequestId', string>) => {
      const found = await findRequest(db, scope, params.accessRequestId, context.now().toISOString())
      if (!found || !(isAdmin(scope) || isOwn(scope, found))) throw fail('not_found', 'no such access request')
      return { ...scope, accessRequest: found }
    },
  )

const isOwn = ({ principal }: InOrg, { userId }: AccessRequestRow): boolean =>
  principal.type === 'user' && principal.id === userId

/** Admits the person who asked. */
export const own = <S extends OnRequest, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed('own', 'The caller must be the person who asked', base, async (scope) => {
    if (!isOwn(scope, scope.accessRequest)) throw fail('forbidden', 'only the person who asked may withdraw it')
    return scope
  })
