import type { Tx } from '../../db/database.ts'
import { deleteGrantOf, upsertGrants } from './store.ts'

/** Stores the `recoveryWrappedDek` of a new environment, or of one with a new key, if the organization has recovery. */
export const coverNew = (
  { db, now }: { db: Tx; now: string },
  env: { orgId: string; id: string },
  wrappedDek: string | undefined,
): Promise<unknown> =>
  wrappedDek === undefined
    ? Promise.resolve()
    : upsertGrants(db, { id: env.orgId }, [{ environmentId: env.id, wrappedDek }], now)

/** The stored copy is of the old key. Without a new copy the environment is no longer covered, and coverage says so. */
export async function coverAnew(
  work: { db: Tx; now: string },
  env: { orgId: string; id: string },
  wrappedDek: string | undefined,
): Promise<void> {
  if (wrappedDek === undefined) await deleteGrantOf(work.db, { id: env.orgId }, env.id)
  else await coverNew(work, env, wrappedDek)
}
