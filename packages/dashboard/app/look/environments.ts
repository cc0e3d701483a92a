import { isProduction as isProductionSlug } from '@skerry/contract/envs/production'

/** The colours of environments. `tokens.css` has a value for each. */
type Hue = 'prod' | 'staging' | 'qa' | 'preview' | 'ci' | 'dev'

const hues: readonly (readonly [pattern: RegExp, hue: Hue])[] = [
  [/^(?:stag|stage|staging|stg|preprod)$/, 'staging'],
  [/^(?:qa|test|testing|uat)$/, 'qa'],
  [/^(?:preview|review|pr-.*|demo)$/, 'preview'],
  [/^(?:ci|build)$/, 'ci'],
  [/^(?:dev|development|local)$/, 'dev'],
]

/** The hues of environments with other names. Production’s is not among them. */
const others: readonly Hue[] = ['preview', 'qa', 'staging', 'dev', 'ci']

/** Returns the hue of an environment by its slug. An environment has the same hue on every page. */
export function hueOf(slug: string): Hue {
  if (isProductionSlug(slug)) return 'prod'
  const known = hues.find(([pattern]) => pattern.test(slug))
  if (known) return known[1]
  const sum = [...slug].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0)
  return others[sum % others.length] as Hue
}

export const isProduction = (slug: string) => hueOf(slug) === 'prod'
