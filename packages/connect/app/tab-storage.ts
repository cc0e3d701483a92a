import type { NamedExecutor } from './link.ts'

/** What a tab keeps of a link that it has claimed, for a reload and for the way back from a provider. */
export interface Claim {
  claimToken: string
  /** null where the link is for managing what is connected. */
  executor: NamedExecutor | null
}

export interface TabStorage {
  read(): Claim | null
  write(claim: Claim): void
  clear(): void
}

const name = 'skerry-connect'

/** In the tab's own storage, which ends with the tab. A browser that gives none costs a reload, and nothing else. */
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
