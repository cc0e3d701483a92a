interface Shares {
  threshold: number
  custodians: readonly { userId: string }[]
}

/** The shares of the recovery key that are left once a custodian is gone. */
export interface SharesLeft {
  left: number
  threshold: number
  /** False: the recovery key can never be put together again. */
  isEnough: boolean
}

/**
 * Says what recovery loses when a person leaves the organization or replaces their keys; null where the person holds no share.
 *
 * @example sharesWithout({ threshold: 2, custodians: [{ userId }] }, userId)?.isEnough // false
 */
export function sharesWithout(recovery: Shares | null, userId: string): SharesLeft | null {
  if (!recovery?.custodians.some((one) => one.userId === userId)) return null
  const left = recovery.custodians.length - 1
  return { left, threshold: recovery.threshold, isEnough: left >= recovery.threshold }
}
