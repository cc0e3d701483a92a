import type { Sql } from '../../db/database.ts'
import { byCreation, type KeysetCursor, pageFrom, pageOf } from '../../http/page.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Owner } from '../../model/environments/owners.ts'
import { listAppEnvs, listGroupEnvs } from './store.ts'

interface Request {
  db: Sql
  principal: Principal
  now: string
}

/** The owner of environments. Branches are in neither list. */
type Owned = { app: Owner } | { group: Owner }

const listEnvs = (input: Request, owner: Owned, cursor: KeysetCursor) =>
  'app' in owner ? listAppEnvs(input.db, owner.app, input, cursor) : listGroupEnvs(input.db, owner.group, input, cursor)

export const allEnvs = (input: Request, owner: Owned) => listEnvs(input, owner, { at: null, id: null, take: null })

export async function pageOfEnvs(input: Request & { query: Parameters<typeof pageFrom>[0] }, owner: Owned) {
  const cursor = pageFrom(input.query, 'environment')
  const page = pageOf(await listEnvs(input, owner, cursor), cursor, byCreation)
  return { environments: page.rows, nextCursor: page.nextCursor }
}
