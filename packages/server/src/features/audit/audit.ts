import type { audit } from '@skerry/contract/audit/endpoints'
import { limits } from '@skerry/contract/limits'
import type { Sql } from '../../db/database.ts'
import { byCreation, cursorAt, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { checkedInstant } from '../../kernel/instant.ts'
import type { InOrg } from '../orgs/scope.ts'
import { environmentsOf, listNamed, namesOf, placesIn } from './names-store.ts'
import type { Entry } from './scope.ts'
import { type AuditContext, search } from './search.ts'
import { beforeAll, type Filter, findEntries, isNarrow } from './store.ts'

export async function list({
  context,
  db,
  org,
  query,
}: In<typeof audit.list, InOrg, AuditContext>): Out<typeof audit.list> {
  const cursor = pageFrom(query, 'audit', limits.auditDefault)
  const filter = await filterOf(context, db, org, query)
  const { listMs, pieceEntries } = context.auditSearch
  const wanted = cursor.take ?? limits.auditDefault
  const found: Entry[] = []
  const stopped = await search({
    after: cursor.at === null || cursor.id === null ? beforeAll : { at: cursor.at, id: cursor.id },
    size: isNarrow(filter) ? wanted : pieceEntries,
    limitMs: listMs,
    read: (after, size) => findEntries(db, org, { filter, after, size }, wanted - found.length),
    take: (entries) => found.push(...entries) >= wanted,
  })
  const page = pageOf(found, cursor, byCreation)
  const ids = page.rows.flatMap(({ actorId, resourceId }) => [actorId, resourceId]).filter((id) => id !== null)
  return {
    entries: page.rows,
    names: await namesOf(db, context.auditNames, org, [...new Set(ids)]),
    environments: await environmentsOf(db, org, [...new Set(page.rows.flatMap(environmentIdOf))]),
    nextCursor: stopped ? cursorAt(stopped.at, stopped.id) : page.nextCursor,
    searchedUntil: stopped?.at ?? null,
  }
}

const environmentIdOf = ({ resourceId, metadata: { environmentId } }: Entry): string[] =>
  [environmentId, resourceId].filter((id): id is string => typeof id === 'string' && id.startsWith('env_'))

type Query = In<typeof audit.timeline>['query']

/** Turns a query into a filter of the store. */
export async function filterOf(
  { auditNames }: AuditContext,
  db: Sql,
  org: InOrg['org'],
  query: Query,
): Promise<Filter> {
  const named = query.text === undefined ? [] : (await listNamed(db, auditNames, org, query.text)).map(({ id }) => id)
  const { since, until, environmentId, applicationId } = query
  const inApplication = applicationId === undefined ? undefined : await placesIn(db, org, applicationId)
  // An entry must match both, so an environment of another application finds nothing.
  const places =
    environmentId === undefined ? inApplication : [environmentId].filter((id) => inApplication?.includes(id) ?? true)
  return { ...query, named, places, since: since && checkedInstant(since), until: until && checkedInstant(until) }
}
