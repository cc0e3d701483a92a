import { type ConfigField, fieldsOf } from '@skerry/contract/fields'
import type { RotationKind } from '@skerry/contract/rotation/facts'
import type { ConfigRules } from '../form/use-config-form.ts'

interface RotationSchemas {
  rulesOf: (kind: RotationKind, secretName: string) => ConfigRules
  /** The fields of all kinds. */
  all: ConfigField[]
}

let loading: Promise<RotationSchemas> | undefined

/** Loads the schemas when a form first needs them. Returns the same promise each time, as React's `use` requires. */
export function rotationSchemas(): Promise<RotationSchemas> {
  loading ??= load()
  return loading
}

async function load(): Promise<RotationSchemas> {
  const [{ rotationKinds, rotationConfigProblem }, { Errors }] = await Promise.all([
    import('@skerry/contract/rotation/kinds'),
    import('typebox/value'),
  ])
  const kinds = Object.keys(rotationKinds) as RotationKind[]
  const fields = Object.fromEntries(kinds.map((kind) => [kind, fieldsOf(rotationKinds[kind].config)])) as Record<
    RotationKind,
    ConfigField[]
  >
  const rulesOf = (kind: RotationKind, secretName: string): ConfigRules => ({
    fields: fields[kind],
    fixed: { kind },
    broken: (config) => Errors(rotationKinds[kind].config, config),
    problem: (config) => rotationConfigProblem(config as Parameters<typeof rotationConfigProblem>[0], secretName),
  })
  return { rulesOf, all: kinds.flatMap((kind) => fields[kind]) }
}
