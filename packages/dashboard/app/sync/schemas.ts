import { type ConfigField, fieldsOf, shapesOf } from '@skerry/contract/fields'
import type { SyncTag } from '@skerry/contract/sync/providers'
import type { TSchema } from 'typebox'
import { type Texts, textAt } from '../form/config-fields.ts'
import type { ConfigRules } from '../form/use-config-form.ts'

/** A kind of destination, with its fields and rules. */
export interface Provider {
  tag: SyncTag
  /** A description of the credential. */
  credential: string
  config: ConfigRules
  /** The fields and rules. If there are several kinds, they depend on the field `kind`. */
  destination: (texts: Texts) => ConfigRules
  /** The fields of all kinds. A form keeps typed texts when another kind is chosen. */
  destinationFields: ConfigField[]
}

let loading: Promise<Map<string, Provider>> | undefined

/**
 * Loads all kinds of destinations, by tag, when a page first needs them. Returns the same promise each time, as React's
 * `use` requires.
 */
export function syncSchemas(): Promise<Map<string, Provider>> {
  loading ??= load()
  return loading
}

async function load(): Promise<Map<string, Provider>> {
  const [{ syncProviders }, { syncProblem }, { Errors }] = await Promise.all([
    import('@skerry/contract/sync/providers'),
    import('@skerry/contract/sync/rules'),
    import('typebox/value'),
  ])
  const problem: ConfigRules['problem'] = (config) => syncProblem(config as Parameters<typeof syncProblem>[0])
  const rulesOf = (tag: SyncTag, schema: object, fields: ConfigField[]): ConfigRules => ({
    ...{ fields, fixed: { provider: tag }, problem },
    // Each one is a schema of the contract. Their union is too complex for the checker's types.
    broken: (config) => Errors(schema as TSchema, config),
  })
  const rows = Object.entries(syncProviders) as [SyncTag, (typeof syncProviders)[SyncTag]][]
  return new Map(
    rows.map(([tag, { credential, config, destination }]) => {
      const shapes = shapesOf(destination)
      const kinds = shapes.flatMap(({ kind }) => kind ?? [])
      const all = shapes.map(({ kind, schema, fields }) => {
        const asked = kind === undefined ? fields : [kindField(kinds), ...fields]
        return { kind, rules: rulesOf(tag, schema, asked) }
      })
      const fields = all.flatMap(({ rules }) => rules.fields)
      const provider: Provider = {
        ...{ tag, credential },
        config: rulesOf(tag, config, fieldsOf(config)),
        destination: (texts) => (all.find(({ kind }) => kind === textAt(texts, 'kind')) ?? all[0])?.rules ?? neverRules,
        destinationFields: fields,
      }
      return [tag, provider] as const
    }),
  )
}

const neverRules: ConfigRules = { fields: [], fixed: {}, broken: () => [], problem: () => null }

const kindField = (choices: string[]): ConfigField => ({
  ...{ path: 'kind', kind: 'choice', required: true, choices, columns: [] },
  description: 'The other fields depend on this choice.',
})
