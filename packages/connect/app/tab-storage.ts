import type { NamedExecutor } from './link.ts'

/** The data of a claimed link that a tab stores, for a reload and for the return from a provider. */
export interface Claim {
  claimToken: string
  /** null if the link is for managing connections. */
  executor: NamedExecutor | null
}

export interface TabStorage {
  read(): Claim | null
  write(claim: Claim): void
  clear(): void
}

const name = 'skerry-connect'

/**
 * Uses session storage, which ends with the tab. In a browser without it, a reload or a return from a provider ends the
 * flow.
 */
export const tabStorage: TabStorage = {
  read: () => attempt(() => JSON.parse(sessionStorage.getItem(name) ?? 'null') as Claim | null) ?? null,
  write: (claim) => void attempt(() => sessionStorage.setItem(name, JSON.stringify(claim))),
  clear: () => void attempt(() => sessionStorage.removeItem(name)),
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
