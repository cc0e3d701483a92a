import type { audit } from '@skerry/contract/audit'
import { limits } from '@skerry/contract/limits'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { storedInstant } from '../../kernel/instant.ts'
import type { InOrg } from '../orgs/scope.ts'
import { listEntries } from './store.ts'

export async function list({ db, org, query }: In<typeof audit.list, InOrg>): Out<typeof audit.list> {
  const cursor = pageFrom(query, 'audit', limits.auditDefault)
  const filter = { ...query, since: instantOf(query, 'since'), until: instantOf(query, 'until') }
  const page = pageOf(await listEntries(db, org, filter, cursor), cursor, byCreation)
  return { entries: page.rows, nextCursor: page.nextCursor }
}

function instantOf(query: In<typeof audit.list>['query'], name: 'since' | 'until'): string | undefined {
  const given = query[name]
  if (given === undefined) return undefined
  const stored = storedInstant(given)
  if (stored === null) throw fail('invalid_request', `query.${name}: no such instant`)
  return stored
}
