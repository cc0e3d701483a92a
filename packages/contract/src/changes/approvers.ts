/** The principals that propose and approve changes of an environment. */
export interface Approvers {
  /** Owners and admins. Nobody else approves. */
  admins: number
  /** Members and service tokens that have the environment's key. They propose changes, and approve none. */
  otherWriters: number
}

interface Settings {
  requiredApprovals: number
  allowSelfApproval: boolean
}

/**
 * Finds out whose changes could get enough approvals: those of `everybody`, of `nobody`, or of `others`, which means everybody
 * except admins.
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
