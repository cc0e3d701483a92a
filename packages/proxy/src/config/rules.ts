import { type PolicyRule, policyRulesProblem } from '@skerry/contract/agents/policy-body'
import { ConfigError, given, list, needed, oneOf, table, text } from './read.ts'

const words = given(list(text), null)

const place = oneOf('path', 'query', 'header', 'body')

/** Where a placeholder can stand in a request. */
export type Place = ReturnType<typeof place>

/** Where placeholders are filled; null: everywhere, as the published format of policies has it. */
export type Places = readonly Place[] | null

export const places = given(list(place), null)

/** What a rule is made of, wherever it stands in the file. Absent and empty mean the same. */
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

/** A rule of the file, held against what a signed policy has to fulfil, too. */
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
