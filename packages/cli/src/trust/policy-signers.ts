import { fetchEntries } from '@skerry/sdk/internal/directory/entries'
import { Failure } from '../failure.ts'
import { warn } from '../output.ts'
import type { Session } from '../session.ts'
import { trustOf } from './reading.ts'

/** Returns the thumbprints of the keys whose policies count, from the newest root. */
async function presentKids(session: Session, orgId: string): Promise<(string | null)[]> {
  const { verified } = await fetchEntries(session.client, orgId, [], trustOf(session, orgId, 'read'))
  return verified.root.signers.map(({ policyKid }) => policyKid)
}

/** Refuses a key that is not the key of a signer, because proxies that know the directory would refuse its policies. */
export async function requirePolicySigner(session: Session, orgId: string, kid: string): Promise<void> {
  if ((await presentKids(session, orgId)).includes(kid)) return
  throw new Failure(
    'refused',
    'your key is not the key of a signer of the signed directory, so proxies would refuse this policy; nothing was published',
    'ask a signer to add you with `skerry trust signers add`, or to publish the policy',
  )
}

/**
 * Returns those of the configured signers of policies who are signers in the newest root.
 *
 * @throws Failure if none of them is.
 */
export async function presentSigners(session: Session, configured: readonly string[]): Promise<string[]> {
  const { id: orgId } = await session.org()
  const present = await presentKids(session, orgId)
  const [accepted, gone] = [true, false].map((is) => configured.filter((kid) => present.includes(kid) === is))
  for (const kid of gone ?? []) warn(`policies of ${kid} are refused: its holder is no signer of the directory`)
  if (accepted && accepted.length > 0) return accepted
  throw new Failure(
    'refused',
    'nobody in policy.signers is a signer of the organization’s directory',
    'list the thumbprint of a signer, whom `skerry trust signers ls` shows',
  )
}
