import type { Resolved } from '@skerry/sdk'
import { UnavailableError } from '@skerry/sdk/errors'

/** What can be put into requests. */
export interface Secrets {
  /** Undefined for a name that does not exist. Nothing at all once the server has refused to give it. */
  get(name: string): string | undefined
  all(): Iterable<[name: string, value: string]>
  /** Whether the server refuses what was given before: then nothing may go out any more. */
  isRefused(): boolean
  /** Whether a kept copy stands in because the server is away. */
  isStale(): boolean
  refresh(): Promise<void>
}

/**
 * The secrets of one environment, merged and expanded. A server that is away changes nothing; one that refuses ends it.
 *
 * @param first what the start has resolved.
 * @throws an error whose message names a value that cannot be expanded: a proxy does not begin with half of its secrets.
 */
export function openSecrets(
  first: Resolved,
  resolve: () => Promise<Resolved>,
  warn: (message: string) => void,
): Secrets {
  let values: ReadonlyMap<string, string> | null = valuesOf(first)
  let isStale = first.stale
  return {
    get: (name) => values?.get(name),
    all: () => values ?? [],
    isRefused: () => values === null,
    isStale: () => isStale,
    async refresh() {
      try {
        const resolved = await resolve()
        values = valuesOf(resolved)
        isStale = resolved.stale
      } catch (error) {
        if (error instanceof UnavailableError) return warn(`the secrets stay as they are: ${error.message}`)
        values = null
        warn(`nothing is sent any more: the secrets were refused: ${(error as Error).message}`)
      }
    },
  }
}

function valuesOf({ values, unexpanded }: Resolved): ReadonlyMap<string, string> {
  const [bad] = unexpanded
  if (bad) throw bad[1]
  return new Map(Object.entries(values))
}
