import { fetchEntries } from '@skerry/sdk/internal/directory/entries'
import { Failure } from '../failure.ts'
import { warn } from '../output.ts'
import type { Session } from '../session.ts'
import { trustOf } from './reading.ts'

/**
 * Returns those of the configured signers of policies who are signers in the newest root.
 *
 * @throws Failure if none of them is.
 */
export async function presentSigners(session: Session, configured: readonly string[]): Promise<string[]> {
  const { id: orgId } = await session.org()
  const { verified } = await fetchEntries(session.client, orgId, [], trustOf(session, orgId, 'read'))
  const present = verified.root.signers.map(({ policyKid }) => policyKid)
  const [accepted, gone] = [true, false].map((is) => configured.filter((kid) => present.includes(kid) === is))
  for (const kid of gone ?? []) warn(`policies of ${kid} are refused: its holder is no signer of the directory`)
  if (accepted && accepted.length > 0) return accepted
  throw new Failure(
    'refused',
    'nobody in policy.signers is a signer of the organization’s directory',
    'list the thumbprint of a signer, whom `skerry trust signers ls` shows',
  )
}
