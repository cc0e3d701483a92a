import type { audit } from '@skerry/contract/audit'
import { limits } from '@skerry/contract/limits'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import type { InOrg } from '../orgs/scope.ts'
import { listEntries } from './store.ts'

export async function list({ db, org, query }: In<typeof audit.list, InOrg>): Out<typeof audit.list> {
  const cursor = pageFrom(query, 'audit', limits.auditDefault)
  const page = pageOf(await listEntries(db, org, query, cursor), cursor, byCreation)
  return { entries: page.rows, nextCursor: page.nextCursor }
}
