import type { Tx } from '../../db/database.ts'
import type { Metadata } from '../../kernel/audit.ts'
import { deleteCustodian, listCustodianships } from './store.ts'

interface Work {
  db: Tx
  audit: (action: 'recovery.custodian_removed', orgId: string, metadata: Metadata, more: { orgId: string }) => void
}

type Cause = 'member.removed' | 'user.keys_replaced'

/** The share of someone who leaves is lost; coverage says so, and a rotation makes new ones. */
export async function removeCustodian({ db, audit }: Work, orgId: string, userId: string, cause: Cause) {
  const gone = await deleteCustodian(db, { id: orgId }, userId)
  if (gone) audit('recovery.custodian_removed', orgId, { userId, shareIndex: gone.shareIndex, cause }, { orgId })
}

/** Nor can anyone open a share again that was wrapped to keys which its holder has replaced. */
export async function removeCustodianships(work: Work, userId: string, cause: Cause): Promise<void> {
  for (const orgId of await listCustodianships(work.db, userId)) await removeCustodian(work, orgId, userId, cause)
}
