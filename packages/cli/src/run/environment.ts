import { forEnvironment, type Withheld } from '@skerry/sdk/loading-names'
import type { Provenance } from '@skerry/sdk/resolve'
import type { Resolved } from '@skerry/sdk/skerry'
import { Failure } from '../failure.ts'
import type { Values } from '../formats.ts'

/** Skerry's own credentials are not the program's business: it gets values, not the means to fetch more. */
const ownCredentials = ['SKERRY_TOKEN', 'SKERRY_CLIENT_SECRET', 'SKERRY_PASSPHRASE_FILE']

/** The longest `NAME=value` that Linux starts a program with (MAX_ARG_STRLEN), with its final NUL. */
const entryMaxBytes = 131_072

export const fitsEnvironment = (name: string, value: string) =>
  Buffer.byteLength(name) + Buffer.byteLength(value) + 2 <= entryMaxBytes

export interface Launch {
  env: Record<string, string>
  /** For every name that Skerry or the overlay brings: where its value comes from, and what that overrides. */
  origins: { name: string; from: string; overrides: string[] }[]
  /** Secrets that the program does not get, because their names make programs load or trust something. */
  withheld: Withheld[]
}

export interface Ingredients {
  resolved: Pick<Resolved, 'values' | 'provenance' | 'scope'>
  only: string[] | undefined
  /** Names that a program may be given although they make it load or trust something. */
  allowNames: readonly string[]
  overlay: { file: string; values: Values } | undefined
  processEnv: NodeJS.ProcessEnv
}

/** Groups < application environment < branch < `--dotenv` < the environment that `skerry` itself was started with. */
export function buildLaunch({ resolved, only, allowNames, overlay, processEnv }: Ingredients): Launch {
  const inherited = Object.fromEntries(
    Object.entries(processEnv).filter(([name, value]) => value !== undefined && !ownCredentials.includes(name)),
  ) as Record<string, string>
  const { env: secrets, withheld } = forEnvironment(pick(resolved.values, only), allowNames)
  const brought = new Map([...Object.entries(secrets), ...(overlay?.values ?? [])])
  const origins = [...brought.keys()].sort().map((name) => {
    const provenance = Object.hasOwn(secrets, name) ? resolved.provenance[name] : undefined
    const chain = provenance ? [...provenance.overrides, provenance].map((one) => labelOf(one, resolved.scope)) : []
    if (overlay?.values.has(name)) chain.push(overlay.file)
    if (Object.hasOwn(inherited, name)) chain.push('process environment')
    return { name, from: chain.at(-1)!, overrides: chain.slice(0, -1).reverse() }
  })
  const env = { ...Object.fromEntries(brought), ...inherited }
  for (const name of brought.keys()) checkEntry(name, env[name]!)
  return { env, origins, withheld }
}

function pick(values: Record<string, string>, only: string[] | undefined): Record<string, string> {
  if (only === undefined) return values
  const missing = only.filter((name) => values[name] === undefined)
  if (missing.length > 0) {
    throw new Failure(
      'notFound',
      `--only names what does not exist: ${missing.join(', ')}`,
      'see `skerry run --explain`',
    )
  }
  return Object.fromEntries(only.map((name) => [name, values[name]!]))
}

function labelOf({ source, slug, groupSlug }: Omit<Provenance, 'overrides'>, scope: Resolved['scope']): string {
  if (source === 'group') return `${groupSlug}:${slug}`
  return source === 'branch' ? `branch ${slug}` : `${scope.appSlug}/${slug}`
}

function checkEntry(name: string, value: string): void {
  if (value.includes('\0')) {
    throw new Failure(
      'failure',
      `the value of ${name} has a NUL byte, which no environment variable can hold`,
      'store it encoded',
    )
  }
  if (!fitsEnvironment(name, value)) {
    throw new Failure('failure', `${name} is larger than an environment variable can be`, 'leave it out with --only')
  }
}
