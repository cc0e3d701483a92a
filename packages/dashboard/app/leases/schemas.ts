import { type ConfigField, fieldsOf } from '@skerry/contract/fields'
import type { LeaseTag } from '@skerry/contract/leases/facts'
import type { ConfigRules } from '../form/use-config-form.ts'

/** By provider, which fields a target has and how they are checked. */
interface TargetSchemas {
  rules: Record<LeaseTag, ConfigRules>
  /** Those of every provider: a form keeps what was typed when another is chosen. */
  all: ConfigField[]
}

/** The form sets these itself, and asks for the others. */
const setByForm = ['executor', 'provisionerTokenId']

let loading: Promise<TargetSchemas> | undefined

/** Schemas are fetched with the first form that needs them. For `use`: the same promise each time. */
export function targetSchemas(): Promise<TargetSchemas> {
  loading ??= load()
  return loading
}

async function load(): Promise<TargetSchemas> {
  const [{ leaseProviders }, { leaseConfigProblem }, { Errors }] = await Promise.all([
    import('@skerry/contract/leases/providers'),
    import('@skerry/contract/leases/config'),
    import('typebox/value'),
  ])
  const tags = Object.keys(leaseProviders) as LeaseTag[]
  const rulesOf = (provider: LeaseTag): ConfigRules => {
    const { config: schema } = leaseProviders[provider]
    return {
      fields: fieldsOf(schema).filter(({ path }) => !setByForm.includes(path)),
      fixed: { provider, executor: 'in_broker' },
      broken: (config) => Errors(schema, config),
      problem: (config) => leaseConfigProblem(config as Parameters<typeof leaseConfigProblem>[0]),
    }
  }
  const rules = Object.fromEntries(tags.map((tag) => [tag, rulesOf(tag)])) as TargetSchemas['rules']
  return { rules, all: tags.flatMap((tag) => [...rules[tag].fields]) }
}
