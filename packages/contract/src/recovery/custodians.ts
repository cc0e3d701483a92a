interface Shares {
  threshold: number
  custodians: readonly { userId: string }[]
}

/** The shares of the recovery key that are left after a custodian has gone. */
export interface SharesLeft {
  left: number
  threshold: number
  /** False if the recovery key can never be combined again. */
  isEnough: boolean
}

/**
 * Returns what recovery loses when a person leaves the organization or replaces their keys; null if the person has no
 * share.
 *
 * @example sharesWithout({ threshold: 2, custodians: [{ userId }] }, userId)?.isEnough // false
 */
export function sharesWithout(recovery: Shares | null, userId: string): SharesLeft | null {
  if (!recovery?.custodians.some((one) => one.userId === userId)) return null
  const left = recovery.custodians.length - 1
  return { left, threshold: recovery.threshold, isEnough: left >= recovery.threshold }
}
