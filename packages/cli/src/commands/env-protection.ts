import { whoseChangesPass } from '@skerry/contract/changes/approvers'
import { adminsText, findApprovers } from '../changes/approvers.ts'
import { Failure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { note, type Output, warn } from '../output.ts'
import type { Place } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { type Protection, protectCommand } from '../rekey-steps.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { count } from '../units.ts'

export function protectionWords({ requiredApprovals, allowSelfApproval }: Protection): string {
  return `changes need ${count(requiredApprovals, 'approval')}, ${allowSelfApproval ? 'the proposer’s counts' : 'not by the proposer'}`
}

interface ProtectFlags extends Flags {
  approvals?: string
  selfApproval?: boolean
  yes?: boolean
}

export async function protect(_slug: string, { session, flags, place }: AtPlace<ProtectFlags>): Promise<Output> {
  const { approvals, selfApproval } = flags
  const params = { orgId: place.orgId, envId: place.envId }
  await checkApprovers(session, place, flags)
  const { protection } = await session.client.protection.put({
    params,
    body: {
      ...(approvals === undefined ? {} : { requiredApprovals: Number(approvals) }),
      ...(selfApproval === undefined ? {} : { allowSelfApproval: selfApproval }),
    },
  })
  note(`${place.label} is protected: ${protectionWords(protection)}`)
  return { json: { environmentId: place.envId, protection } }
}

export function checkProtect({ approvals }: ProtectFlags): void {
  if (approvals !== undefined && !/^[1-9]\d?$/.test(approvals))
    throw usage('--approvals must be a whole number, 1 or more')
}

/** Refuses settings under which nobody could approve a change, unless --yes accepts them. */
async function checkApprovers(session: Session, place: Place, flags: ProtectFlags): Promise<void> {
  const found = await findApprovers(session, place)
  if (!found) return
  const { admins, otherWriters, before } = found
  const { label } = place
  const pass = whoseChangesPass(
    { admins, otherWriters },
    {
      requiredApprovals: Number(flags.approvals ?? before?.requiredApprovals ?? 1),
      allowSelfApproval: flags.selfApproval ?? before?.allowSelfApproval ?? false,
    },
  )
  const people = adminsText(admins)
  if (pass === 'others') warn(`${people}, so nobody could approve a change that an admin proposes`)
  if (pass !== 'nobody' || flags.yes) return
  throw new Failure(
    'conflict',
    `nobody could approve a change of ${label}, because ${people}`,
    'make another member an admin with `skerry members role`, lower --approvals, or add --self-approval; --yes protects it nevertheless',
  )
}

export async function unprotect(
  _slug: string,
  { session, flags, place: { orgId, envId, label } }: AtPlace<Confirmable>,
): Promise<Output> {
  const params = { orgId, envId }
  const { protection } = await session.client.protection.get({ params })
  if (protection === null) {
    note(`${label} is not protected`)
    return { json: { environmentId: envId, protection: null } }
  }
  await confirmOrRefuse(
    `lets every reader of ${label} change it without an approval, and mails all admins about it`,
    flags,
  )
  await session.client.protection.delete({ params })
  const { openChangeRequests } = await session.client.protection.get({ params })
  const waiting = openChangeRequests === 0 ? '' : `; ${count(openChangeRequests, 'change')} still open`
  note(`${label} is not protected any more${waiting}`)
  note(`its settings are not kept; to protect it as before: \`${protectCommand(label, protection)}\``)
  return { json: { environmentId: envId, protection: null, openChangeRequests } }
}
