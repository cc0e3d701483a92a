import { displayNamePattern, slugPattern } from '../patterns.ts'

/** One rule of an agent's policy. Empty `methods` or `paths` match everything. An empty `allow` permits no secret. */
export interface PolicyRule {
  /** An exact hostname: no port, no wildcard. */
  host: string
  methods: string[]
  /** Globs on the path: `**` is any number of whole segments, `*` any run of characters within one. */
  paths: string[]
  /** Names of the secrets that may be injected into a request. */
  allow: string[]
  label?: string
}

/** The signed content of a bundle, in the order of its canonical form. */
export interface PolicyBody {
  v: number
  org: string
  agent: string
  agent_slug?: string
  policy_version: number
  /** Unix seconds. */
  issued_at: number
  expires_at: number
  rules: PolicyRule[]
  signer: { kid: string; jwk: { crv: string; kty: string; x: string; y: string } }
}

/** The largest policy that a bundle may contain, so that every enforcement point decides in microseconds. */
export const policyLimits = { rules: 1000, perList: 200, pathCharacters: 500 } as const

export const methodPattern = '^[A-Z]{1,20}$'

/** The pattern of a name in a placeholder. Unlike the name of a secret, it may start with a digit. */
export const injectableNamePattern = '^[A-Za-z0-9_]{1,255}$'

/** A hostname as rules and reports write it: lower case, labels of letters, digits, hyphens and underscores. */
export const hostPattern =
  '^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$'

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Whether a parsed body has the members that a verifier reads, each of its type. A verifier does not check their
 * content or unknown members, because the signature vouches for them.
 */
export function isPolicyBody(body: unknown): body is PolicyBody {
  if (!isObject(body) || !isObject(body.signer) || !isObject(body.signer.jwk)) return false
  const { crv, kty, x, y } = body.signer.jwk
  const texts = [body.org, body.agent, body.agent_slug ?? '', body.signer.kid, crv, kty, x, y]
  const numbers = [body.v, body.policy_version, body.issued_at, body.expires_at]
  return texts.every(isText) && numbers.every(isWhole) && Array.isArray(body.rules) && body.rules.every(isRule)
}

const isRule = (rule: unknown): boolean =>
  isObject(rule) &&
  isText(rule.host) &&
  isTexts(rule.methods) &&
  isTexts(rule.paths) &&
  isTexts(rule.allow) &&
  isText(rule.label ?? '')

const bodyMembers = [
  'v',
  'org',
  'agent',
  'agent_slug',
  'policy_version',
  'issued_at',
  'expires_at',
  'rules',
  'signer',
] as const
const ruleMembers = ['host', 'methods', 'paths', 'allow', 'label'] as const

/**
 * Says why a body may not be published, with the position of the error; null if it may. This is stricter than a
 * verifier: a rule that matches nothing, or a member that nobody reads, is a mistake of the author.
 *
 * @example policyBodyProblem(policyBody) // 'rules[2].methods[0]: is no method in capitals'
 */
export function policyBodyProblem(body: PolicyBody): string | null {
  const unknown = Object.keys(body).find((member) => !(bodyMembers as readonly string[]).includes(member))
  if (unknown !== undefined) return 'has a member that no policy has'
  if (!new RegExp(slugPattern).test(body.agent_slug ?? '')) return 'agent_slug: is no slug'
  return policyRulesProblem(body.rules)
}

/**
 * Says why rules may not be published, with the position of the error; null if they may.
 *
 * @example policyRulesProblem([{ host: 'api.example.com:443', methods: [], paths: [], allow: [] }])
 */
export function policyRulesProblem(rules: unknown): string | null {
  if (!Array.isArray(rules)) return 'rules: is no list'
  if (rules.length > policyLimits.rules) return `rules: more than ${policyLimits.rules}`
  for (const [at, rule] of rules.entries()) {
    const problem = ruleProblem(rule)
    if (problem !== null) return `rules[${at}]${problem}`
  }
  return null
}

function ruleProblem(rule: unknown): string | null {
  if (!isObject(rule)) return ': is no rule'
  const { host, label } = rule
  if (Object.keys(rule).some((member) => !(ruleMembers as readonly string[]).includes(member)))
    return ': has a member that no rule has'
  if (!isText(host) || !new RegExp(hostPattern).test(host))
    return '.host: is no hostname in lower case, without port, scheme and wildcard'
  if (label !== undefined && (!isText(label) || label.length > 200 || !new RegExp(displayNamePattern).test(label)))
    return '.label: is no text of one line, at most 200 characters'
  return (
    listProblem('methods', rule.methods, new RegExp(methodPattern), 'is no method in capitals') ??
    listProblem('paths', rule.paths, pathForm, pathNeeds) ??
    listProblem('allow', rule.allow, new RegExp(injectableNamePattern), 'is no name of a secret')
  )
}

const pathForm = new RegExp(`^(?=.{1,${policyLimits.pathCharacters}}$)/[\\u0021-\\u003e\\u0040-\\u007e]*$`)
const pathNeeds = 'is no path: it starts with /, has no ? and no space, and is of printable ASCII'

function listProblem(member: string, list: unknown, form: RegExp, otherwise: string): string | null {
  if (!isTexts(list)) return `.${member}: is no list of texts`
  if (list.length > policyLimits.perList) return `.${member}: more than ${policyLimits.perList}`
  const at = list.findIndex((one) => !form.test(one))
  if (at !== -1) return `.${member}[${at}]: ${otherwise}`
  const again = list.findIndex((one, index) => list.indexOf(one) !== index)
  return again === -1 ? null : `.${member}[${again}]: is there twice`
}
