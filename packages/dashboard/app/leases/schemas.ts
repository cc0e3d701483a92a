import { type ConfigField, fieldsOf } from '@skerry/contract/fields'
import type { LeaseTag } from '@skerry/contract/leases/facts'
import type { ConfigRules } from '../form/use-config-form.ts'

/** The fields of a target, and how they are checked. */
interface TargetSchemas {
  rules: Record<LeaseTag, ConfigRules>
  /** The fields of all providers. A form keeps typed texts when another provider is chosen. */
  all: ConfigField[]
}

/** The form sets these fields itself and does not ask for them. */
const setByForm = ['executor', 'provisionerTokenId']

let loading: Promise<TargetSchemas> | undefined

/** Loads the schemas when a form first needs them. Returns the same promise each time, as React's `use` requires. */
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
