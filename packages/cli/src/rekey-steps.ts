import type { protection as endpoints } from '@skerry/contract/changes/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { profileOption } from './labels.ts'

export type Protection = Answer<typeof endpoints.put>['protection']

/** The command that protects an environment as it is protected now. Its settings are lost when the protection ends. */
export const protectCommand = (label: string, { requiredApprovals, allowSelfApproval }: Protection): string =>
  `skerry env protect ${label} --approvals ${requiredApprovals}${allowSelfApproval ? ' --self-approval' : ''}`

/** The command that gives an environment a new key, or proposes one for a protected environment, with the profile of the user. */
export const rekeyCommand = (label: string, profile: string | undefined): string =>
  `skerry env rekey ${label}${profileOption(profile)}`
