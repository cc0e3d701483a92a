import type { Sql } from '../../db/database.ts'
import { byCreation, type KeysetCursor, pageFrom, pageOf } from '../../http/page.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { App } from '../apps/scope.ts'
import type { Group } from '../groups/scope.ts'
import { listAppEnvs, listGroupEnvs } from './store.ts'

interface Request {
  db: Sql
  principal: Principal
}

/** What owns environments; branches are no part of either list. */
type Owner = { app: App } | { group: Group }

const listEnvs = ({ db, principal }: Request, owner: Owner, cursor: KeysetCursor) =>
  'app' in owner ? listAppEnvs(db, owner.app, principal, cursor) : listGroupEnvs(db, owner.group, principal, cursor)

export const allEnvs = (input: Request, owner: Owner) => listEnvs(input, owner, { at: null, id: null, take: null })

export async function pageOfEnvs(input: Request & { query: Parameters<typeof pageFrom>[0] }, owner: Owner) {
  const cursor = pageFrom(input.query, 'environment')
  const page = pageOf(await listEnvs(input, owner, cursor), cursor, byCreation)
  return { environments: page.rows, nextCursor: page.nextCursor }
}
