import type { Tx } from '../../db/database.ts'
import { deleteGrantOf, upsertGrants } from './store.ts'

/** A new environment, or one with a new key: `recoveryWrappedDek` is kept where the organization has recovery. */
export const coverNew = (
  { db, now }: { db: Tx; now: string },
  env: { orgId: string; id: string },
  wrappedDek: string | undefined,
): Promise<unknown> =>
  wrappedDek === undefined
    ? Promise.resolve()
    : upsertGrants(db, { id: env.orgId }, [{ environmentId: env.id, wrappedDek }], now)

/** What was wrapped is the key before: without the new one the environment is covered no longer, and coverage says so. */
export async function coverAnew(
  work: { db: Tx; now: string },
  env: { orgId: string; id: string },
  wrappedDek: string | undefined,
): Promise<void> {
  if (wrappedDek === undefined) await deleteGrantOf(work.db, { id: env.orgId }, env.id)
  else await coverNew(work, env, wrappedDek)
}
