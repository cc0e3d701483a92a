import type { Resolved } from '@skerry/sdk'
import { UnavailableError } from '@skerry/sdk/errors'

/** The secrets that can be put into requests. */
export interface Secrets {
  /** Undefined for a name that does not exist. Undefined for every name once the server has refused the secrets. */
  get(name: string): string | undefined
  all(): Iterable<[name: string, value: string]>
  /** Whether the server now refuses the secrets. Then nothing may be sent any more. */
  isRefused(): boolean
  /** Whether a cached copy is used, because the server is unreachable. */
  isStale(): boolean
  refresh(): Promise<void>
}

/**
 * The secrets of one environment, merged and expanded. An unreachable server changes nothing. A refusal of the server
 * makes all of them unusable.
 *
 * @param first the secrets that were resolved before the start.
 * @throws an error that names a value which cannot be expanded: a proxy must not start with only some of its secrets.
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
        if (error instanceof UnavailableError)
          return warn(`the secrets could not be refreshed, so the proxy still uses the earlier ones: ${error.message}`)
        values = null
        warn(`the proxy sends nothing any more, because the secrets were refused: ${(error as Error).message}`)
      }
    },
  }
}

function valuesOf({ values, unexpanded }: Resolved): ReadonlyMap<string, string> {
  const [bad] = unexpanded
  if (bad) throw bad[1]
  return new Map(Object.entries(values))
}
