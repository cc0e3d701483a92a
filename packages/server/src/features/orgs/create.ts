import type { Tx } from '../../db/database.ts'
import { insertOrganization } from '../../model/organizations/write.ts'

interface Request {
  db: Tx
  now: string
}

/** Makes an organization without members. Returns undefined if the slug is in use, which need not be an error. */
export const createOrg = ({ db, now }: Request, org: { id: string; name: string; slug: string }) =>
  insertOrganization(db, { ...org, now })
