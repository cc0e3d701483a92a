import { whoseChangesPass } from '@skerry/contract/changes/approvers'
import { isClient } from '@skerry/contract/grants/readers'
import { toFailure } from '../failure.ts'
import { warn } from '../output.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'

// The people who can approve a change of a protected environment.

export const adminsText = (admins: number): string => {
  if (admins === 0) return 'no member is an admin'
  return admins === 1 ? 'only one member is an admin' : `only ${admins} members are admins`
}

/** The approvers, or undefined for a token that may not see them, such as one that is bound to an environment. */
export async function findApprovers({ client }: Session, { orgId, envId }: Place) {
  const params = { orgId, envId }
  try {
    const [{ protection: before }, { grantees }, { members }] = await Promise.all([
      client.protection.get({ params }),
      client.envs.grantees({ params }),
      client.orgs.members({ params: { orgId } }),
    ])
    const admins = new Set(members.filter(({ role }) => role !== 'member').map(({ userId }) => userId))
    const otherWriters = grantees.filter(isClient).filter(({ principalId }) => !admins.has(principalId))
    return { before, admins: admins.size, otherWriters: otherWriters.length }
  } catch (error) {
    if (toFailure(error).kind !== 'refused') throw error
    return undefined
  }
}

/** Warns after an admin proposed a new key that nobody can approve, for example because the only other admin has left. */
export async function warnIfNobodyApproves(session: Session, place: Place, id: string): Promise<void> {
  const found = await findApprovers(session, place)
  if (!found?.before) return
  if (whoseChangesPass(found, found.before) === 'everybody') return
  const { label } = place
  warn(
    `${adminsText(found.admins)}, so nobody can approve a change of ${label} that an admin proposes: ${newApproverSteps(label, id, `run \`skerry env rekey ${label}\``)}`,
  )
}

/**
 * A change keeps the rule under which it was proposed, so a new rule needs a new proposal.
 *
 * @param again how to propose the change again
 */
export const newApproverSteps = (label: string, id: string, again = 'propose the change again'): string =>
  `make another member an admin with \`skerry members role\`. Or run \`skerry env protect ${label} --self-approval\` and \`skerry changes withdraw ${id}\`, ${again} and approve it. As soon as there is a second admin, run \`skerry env protect ${label} --no-self-approval\``
