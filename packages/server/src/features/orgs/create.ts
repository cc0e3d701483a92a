import type { Tx } from '../../db/database.ts'
import { insertOrg } from './store.ts'

interface Request {
  db: Tx
  now: string
}

/** Makes an organization with nobody in it; undefined where the slug is taken, which may or may not be an error. */
export const createOrg = ({ db, now }: Request, org: { id: string; name: string; slug: string }) =>
  insertOrg(db, { ...org, now })
