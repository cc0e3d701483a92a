import type { Provenance } from '@skerry/crypto/layers'
import type { Resolved } from '@skerry/sdk'
import { forEnvironment, type Withheld } from '@skerry/sdk/loading-names'
import { Failure } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import { type Selection, select } from '../selection.ts'

/** Skerry's own credentials. The program does not get them, so that it cannot fetch other values. */
const ownCredentials = [
  'SKERRY_TOKEN',
  'SKERRY_TOKEN_FILE',
  'SKERRY_CLIENT_SECRET',
  'SKERRY_PASSPHRASE_FILE',
  'SKERRY_PROXY_CONTROL_TOKEN',
  'SKERRY_TASK',
]

/** The longest `NAME=value` that Linux starts a program with (MAX_ARG_STRLEN), with its final NUL. */
const entryMaxBytes = 131_072

export const fitsEnvironment = (name: string, value: string) =>
  Buffer.byteLength(name) + Buffer.byteLength(value) + 2 <= entryMaxBytes

export interface Launch {
  env: Record<string, string>
  /** The values from Skerry and the overlay, even if the process environment overrides them. */
  values: Values
  /** The source of each name in `values`, and the sources that it overrides. */
  origins: { name: string; from: string; overrides: string[] }[]
  /** Secrets that the program does not get, because their names make programs load or trust something. */
  withheld: Withheld[]
  /** Names whose value from the process environment replaces a different value. */
  hidden: string[]
}

export interface Ingredients {
  resolved: Pick<Resolved, 'values' | 'provenance' | 'overridden' | 'scope' | 'unexpanded'>
  selection: Selection
  /** Names that the program gets although they make it load or trust something. */
  allowNames: readonly string[]
  overlay: { file: string; values: Values } | undefined
  processEnv: NodeJS.ProcessEnv
  /** Names whose value wins over the process environment; true for all. */
  override: true | readonly string[]
  /** Whether the program gets the values in a pipe or a file. They may then be longer than an environment variable. */
  isMounted: boolean
}

const processName = 'process environment'

/** The source of a value that the person stored for themselves. */
export const personalOverride = 'personal override'

/** Merges the sources. The later ones win: groups, application environment, branch, personal overrides, `--dotenv`,
 * process environment. */
export function buildLaunch(ingredients: Ingredients): Launch {
  const { resolved, selection, allowNames, overlay, processEnv, override } = ingredients
  const inherited = new Map(Object.entries(inheritedEnvironment(processEnv)))
  const prefix = selection.prefix ?? ''
  const named = Object.fromEntries([...select(resolved, selection)].map(([name, value]) => [`${prefix}${name}`, value]))
  const { env: given, withheld } = forEnvironment(named, allowNames)
  const secrets = new Map(Object.entries(given))
  const brought = new Map([...secrets, ...(overlay?.values ?? [])])
  checkOverride(override, brought)
  const wins = (name: string) => override === true || override.includes(name)
  const origins = [...brought.keys()].sort().map((name) => {
    const stored = name.slice(prefix.length)
    const provenance = secrets.has(name) ? resolved.provenance[stored] : undefined
    const chain = provenance ? [...provenance.overrides, provenance].map((one) => labelOf(one, resolved.scope)) : []
    if (provenance && resolved.overridden.includes(stored)) chain.push(personalOverride)
    if (overlay?.values.has(name)) chain.push(overlay.file)
    if (inherited.has(name)) chain.splice(wins(name) ? 0 : chain.length, 0, processName)
    return { name, from: chain.at(-1)!, overrides: chain.slice(0, -1).reverse() }
  })
  const hidden = [...inherited.keys()].filter((name) => {
    return brought.has(name) && !wins(name) && inherited.get(name) !== brought.get(name)
  })
  const env = new Map([...inherited, ...[...brought].filter(([name]) => wins(name) || !inherited.has(name))])
  if (!ingredients.isMounted) for (const name of brought.keys()) checkEntry(name, env.get(name)!)
  return { env: Object.fromEntries(env), values: brought, origins, withheld, hidden: hidden.sort() }
}

/** Refuses unknown names, because a mistyped name would silently leave the old value in place. */
function checkOverride(override: true | readonly string[], brought: ReadonlyMap<string, string>): void {
  const missing = override === true ? [] : override.filter((name) => !brought.has(name))
  if (missing.length === 0) return
  throw new Failure('notFound', `--override names what is not brought: ${missing.join(', ')}`, 'see `--explain`')
}

/** The environment that `skerry` was started with, without Skerry's own credentials. */
export const inheritedEnvironment = (processEnv: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(processEnv).filter((entry): entry is [string, string] => {
      const [name, value] = entry
      return value !== undefined && !ownCredentials.includes(name)
    }),
  )

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
