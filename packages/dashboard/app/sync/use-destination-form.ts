import { type Texts, textsOf } from '../form/config-fields.ts'
import { useConfigForm } from '../form/use-config-form.ts'
import type { Binding } from './queries.ts'
import type { Provider } from './schemas.ts'

/** A form for a destination, filled with the `known` one. Its fields depend on the kind of destination. */
export function useDestinationForm(provider: Provider, known: Binding['destination'] | null) {
  const { destinationFields: fields, destination } = provider
  const kinds = fields.find(({ path }) => path === 'kind')?.choices
  const start = known ? textsOf(fields, known) : kinds ? { kind: kinds[0] ?? '' } : {}
  const rulesFor = (texts: Texts) => destination(texts)
  return { form: useConfigForm(fields, rulesFor, start), rulesFor }
}
