/** The durations and counts of a run. */
export interface Plan {
  rounds: number
  roundMs: number
  warmUpMs: number
  idleMs: number
  /** The number of secrets in the large database. */
  secretCount: number
}

export const plans = {
  full: { rounds: 31, roundMs: 1000, warmUpMs: 4000, idleMs: 10_000, secretCount: 1_000_000 },
  quick: { rounds: 15, roundMs: 250, warmUpMs: 1200, idleMs: 5000, secretCount: 200_000 },
} satisfies Record<string, Plan>
