import type { Offboarding as Row } from '@skerry/contract/offboardings/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type InOrg, type Org, within } from '../orgs/scope.ts'
import { rowState } from './state.ts'

export type Offboarding = Checked<Static<typeof Row>>
export type OnOffboarding = InOrg & { offboarding: Offboarding }

/** The columns of `offboardings o` in the form of the API, with its counts `n`. */
export const offboardingColumns = `o.id, o.user_id, o.email, o.name, o.started_by_type,
  o.started_by_id, o.started_at, o.finished_by_type, o.finished_by_id, o.finished_at, o.revoked, n.rows, n.open,
  (select jsonb_build_object('threshold', v.threshold, 'sharesLeft', (
            select count(*) from recovery_custodians c where c.org_id = v.org_id))
     from recoveries v where v.org_id = o.org_id and n.has_share) as recovery`

export const offboardingCounts = (now: `$${number}`) => `cross join lateral (
  select count(*) as rows, count(*) filter (where ${rowState(now)} = 'waiting') as open,
         coalesce(bool_or(r.kind = 'recovery_share'), false) as has_share
    from offboarding_rows r where r.org_id = o.org_id and r.offboarding_id = o.id) n`

export const findOffboarding = (db: Sql, org: Pick<Org, 'id'>, id: string, now: string) =>
  db.row<Offboarding>(
    `select ${offboardingColumns} from offboardings o ${offboardingCounts('$3')} where o.org_id = $1 and o.id = $2`,
    [org.id, id, now],
  )

export const offboarding = within<'offboarding', 'offboardingId', Offboarding>(
  'offboarding',
  'offboardingId',
  'The offboarding must belong to the organization',
  findOffboarding,
)
