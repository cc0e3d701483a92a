import type { protection as endpoints } from '@skerry/contract/changes/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { profileOption } from './labels.ts'
import type { Session } from './session.ts'

export type Protection = Answer<typeof endpoints.put>['protection']

/** The command that protects an environment as it is protected now. Its settings are lost when the protection ends. */
export const protectCommand = (label: string, { requiredApprovals, allowSelfApproval }: Protection): string =>
  `skerry env protect ${label} --approvals ${requiredApprovals}${allowSelfApproval ? ' --self-approval' : ''}`

/** The commands that give an environment a new key, which is refused while the environment is protected. */
export function rekeySteps(label: string, protection: Protection | null): string[] {
  const rekey = `skerry env rekey ${label}`
  return protection === null ? [rekey] : [`skerry env unprotect ${label}`, rekey, protectCommand(label, protection)]
}

/** The same commands for an environment as it is protected now, with the profile of the user. */
export async function stepsToRekey(
  { client, settings }: Session,
  { orgId, envId, label }: { orgId: string; envId: string; label: string },
): Promise<string[]> {
  const { protection } = await client.protection.get({ params: { orgId, envId } })
  return rekeySteps(label, protection).map((step) => `${step}${profileOption(settings.profile)}`)
}
