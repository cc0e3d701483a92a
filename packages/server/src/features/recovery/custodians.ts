import type { Tx } from '../../db/database.ts'
import type { Metadata } from '../../kernel/audit.ts'
import { deleteCustodian, listCustodianships } from './store.ts'

interface Work {
  db: Tx
  audit: (action: 'recovery.custodian_removed', orgId: string, metadata: Metadata, more: { orgId: string }) => void
}

type Cause = 'member.removed' | 'user.keys_replaced'

/** Removes the share of someone who leaves. Coverage reports the loss, and a rotation makes new shares. */
export async function removeCustodian({ db, audit }: Work, orgId: string, userId: string, cause: Cause) {
  const gone = await deleteCustodian(db, { id: orgId }, userId)
  if (gone) audit('recovery.custodian_removed', orgId, { userId, shareIndex: gone.shareIndex, cause }, { orgId })
}

/** Removes the shares of a person who has replaced their keys, because nobody can decrypt these shares any more. */
export async function removeCustodianships(work: Work, userId: string, cause: Cause): Promise<void> {
  for (const orgId of await listCustodianships(work.db, userId)) await removeCustodian(work, orgId, userId, cause)
}
