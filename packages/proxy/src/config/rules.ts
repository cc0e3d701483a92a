import { type PolicyRule, policyRulesProblem } from '@skerry/contract/agents/policy-body'
import { ConfigError, given, list, needed, oneOf, table, text } from './read.ts'

const words = given(list(text), null)

const place = oneOf('path', 'query', 'header', 'body')

/** A place in a request where a placeholder can be. */
export type Place = ReturnType<typeof place>

/** The places where placeholders are filled in. Null is everywhere, as in the published format of policies. */
export type Places = readonly Place[] | null

export const places = given(list(place), null)

/** The fields of every rule in the file. Absent and empty mean the same. */
export const ruleFields = { allow: words, methods: words, paths: words, label: given(text, null) }

const ceilingRow = table({ host: needed(text), allow: needed(list(text)) })
const matcher = table({
  host: needed(text),
  methods: words,
  paths: words,
  label: given(text, null),
})
export const ceiling = given(list(ceilingRow), [])
export const requirements = given(list(matcher), [])
export const transition = table({
  host: needed(text),
  methods: words,
  paths: words,
  to: needed(text),
  label: given(text, null),
})

interface Written {
  host: string
  methods: string[] | null
  paths: string[] | null
  allow?: string[] | null
  label: string | null
}

/** Reads a rule of the file, and checks it like a rule of a signed policy. */
export function ruleOf({ host, methods, paths, allow, label }: Written, place: string, hostKey = 'host'): PolicyRule {
  const rule: PolicyRule = {
    host: host.toLowerCase(),
    methods: (methods ?? []).map((method) => method.toUpperCase()),
    paths: paths ?? [],
    allow: allow ?? [],
    ...(label === null ? {} : { label }),
  }
  const problem = policyRulesProblem([rule])
  if (problem === null) return rule
  const [, key = '', rest = problem] = /^rules\[0\]\.?([^:]*): (.*)$/s.exec(problem) ?? []
  throw new ConfigError(`${place}.${key.replace(/^host/, hostKey)}`, rest)
}
