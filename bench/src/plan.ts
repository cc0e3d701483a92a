/** How long and how often. */
export interface Plan {
  rounds: number
  roundMs: number
  warmUpMs: number
  idleMs: number
  /** Of the large database. */
  secretCount: number
}

export const plans = {
  full: { rounds: 31, roundMs: 1000, warmUpMs: 4000, idleMs: 10_000, secretCount: 1_000_000 },
  quick: { rounds: 15, roundMs: 250, warmUpMs: 1200, idleMs: 5000, secretCount: 200_000 },
} satisfies Record<string, Plan>
