/** The principals that propose and approve changes of an environment. */
export interface Approvers {
  /** Owners and admins: they alone approve. */
  admins: number
  /** Holders of the environment's key who are neither: members and service tokens. They propose, and approve nothing. */
  otherWriters: number
}

interface Settings {
  requiredApprovals: number
  allowSelfApproval: boolean
}

/**
 * Whose changes could get enough approvals under these settings: `everybody`, `others` where an admin's own could not, or
 * `nobody`.
 *
 * @example whoseChangesPass({ admins: 1, otherWriters: 0 }, { requiredApprovals: 1, allowSelfApproval: false }) // 'nobody'
 */
export function whoseChangesPass(
  { admins, otherWriters }: Approvers,
  { requiredApprovals, allowSelfApproval }: Settings,
): 'everybody' | 'others' | 'nobody' {
  if (admins - (allowSelfApproval ? 0 : 1) >= requiredApprovals) return 'everybody'
  return admins >= requiredApprovals && otherWriters > 0 ? 'others' : 'nobody'
}
