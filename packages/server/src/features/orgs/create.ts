import type { Tx } from '../../db/database.ts'
import { insertOrganization } from '../../model/organizations/write.ts'

interface Request {
  db: Tx
  now: string
}

/** Makes an organization with nobody in it; undefined where the slug is taken, which may or may not be an error. */
export const createOrg = ({ db, now }: Request, org: { id: string; name: string; slug: string }) =>
  insertOrganization(db, { ...org, now })
