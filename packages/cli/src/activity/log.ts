import type { audit as endpoints } from '@skerry/contract/audit/endpoints'
import type { Answer, Query } from '@skerry/contract/endpoint'
import { pathOf } from '../audit/environment-path.ts'
import type { Session } from '../session.ts'
import { type Happening, newest, type Wanted } from './happening.ts'
import type { Scope } from './scope.ts'

type Page = Answer<typeof endpoints.list>
type Filter = Query<typeof endpoints.list>

const pageMax = 200
/** How many pages of the log are searched at most. */
const pagesMax = 20

/** Reads the entries of the audit log about an environment or an application, newest first. */
export async function readLog(session: Session, scope: Scope, wanted: Wanted) {
  const names = new Map<string, string>()
  const found = await Promise.all(filtersOf(scope).map((filter) => search(session, scope, { filter, wanted, names })))
  const entries = new Map(found.flatMap((one) => one.entries.map((entry) => [entry.id, entry])))
  // A search that was stopped knows nothing of what is older.
  const searchedUntil =
    found
      .map((one) => one.searchedUntil)
      .filter((instant) => instant !== null)
      .sort()
      .at(-1) ?? null
  const whole = [...entries.values()].filter(({ createdAt }) => searchedUntil === null || createdAt >= searchedUntil)
  const happenings: Happening[] = newest(whole, wanted)
  return { happenings, names, searchedUntil: happenings.length < wanted.limit ? searchedUntil : null }
}

/**
 * The server finds the entries about one environment, by its id as the resource and in the metadata. An application has
 * many ids, so its entries are picked here.
 */
function filtersOf({ appId, environments }: Scope): Filter[] {
  if (appId !== undefined) return [{}]
  return environments.flatMap(({ envId }) => [{ resourceId: envId }, { text: envId }])
}

interface Search {
  filter: Filter
  wanted: Wanted
  /** Gets the names that come with the entries. */
  names: Map<string, string>
}

async function search({ client }: Session, scope: Scope, { filter, wanted, names }: Search) {
  const entries: Page['entries'] = []
  const { orgId } = scope
  const since = wanted.since === undefined ? {} : { since: wanted.since }
  const limit = scope.appId === undefined ? Math.min(wanted.limit, pageMax) : pageMax
  let cursor: string | null = null
  for (let pages = 0; pages < pagesMax; pages++) {
    const query: Filter = { ...filter, ...since, limit, ...(cursor === null ? {} : { cursor }) }
    const page: Page = await client.audit.list({ params: { orgId }, query })
    // An older server sends neither names nor environments.
    for (const [id, name] of Object.entries(page.names ?? {})) names.set(id, name)
    for (const [id, environment] of Object.entries(page.environments ?? {})) names.set(id, pathOf(environment))
    entries.push(...page.entries.filter((entry) => isAbout(scope, entry)))
    cursor = page.nextCursor ?? null
    if (cursor === null || entries.length >= wanted.limit) return { entries, searchedUntil: null }
    const oldest = page.searchedUntil ?? page.entries.at(-1)?.createdAt ?? null
    if (pages === pagesMax - 1) return { entries, searchedUntil: oldest }
  }
  return { entries, searchedUntil: null }
}

/** Whether an entry names the application or one of its environments, as its resource or in its metadata. */
function isAbout({ appId, labels }: Scope, { resourceId, metadata }: Page['entries'][number]): boolean {
  return [resourceId, ...Object.values(metadata)].some(
    (value) => typeof value === 'string' && (value === appId || labels.has(value)),
  )
}
