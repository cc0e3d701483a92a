import type { endpoints } from '@skerry/contract/endpoints'
import { messageOf } from './messages.ts'

type Endpoints = typeof endpoints
export type Heading = keyof Endpoints
export type OperationOf<H extends Heading> = keyof Endpoints[H]

/** The schemas and their checker load with the first form, because pages do not need them. */
const load = () => Promise.all([import('@skerry/contract/endpoints'), import('typebox/value')])

/** Loads the code for `fieldErrors` early, so that it is ready when the form is submitted. */
export const preloadCheck = (): void => void load().catch(() => {})

/** The part of an object's JSON Schema that this file reads. */
interface ObjectSchema {
  type: 'object'
  properties: Record<string, object>
  required?: string[]
}

/**
 * Checks a form's values against the schema of the endpoint's body. Returns messages by path (`name`,
 * `grants.0.principalId`). Only fields of the form are checked, because code may add others before it sends the body.
 * An empty optional field is not sent, so it is not checked. If the schemas cannot be loaded, it returns no errors,
 * because the server checks too.
 */
export async function fieldErrors<H extends Heading>(
  heading: H,
  name: OperationOf<H>,
  values: object,
): Promise<Record<string, string>> {
  const loaded = await load().catch(() => undefined)
  if (!loaded) return {}
  const [{ endpoints }, { Errors }] = loaded
  const endpoint = endpoints[heading][name] as unknown as { body: ObjectSchema }
  const { schema, value } = restrict(endpoint.body, values)
  const errors: Record<string, string> = {}
  for (const { instancePath, ...rule } of Errors(schema, value)) errors[pathOf(instancePath)] ??= messageOf(rule)
  return errors
}

/** Reduces the schema and the value to the fields that the form has. */
function restrict({ type, properties, required = [] }: ObjectSchema, values: object) {
  const isMissing = (name: string, value: unknown) => !required.includes(name) && (value === '' || value == null)
  const checked = Object.entries(values).filter(
    ([name, value]) => Object.hasOwn(properties, name) && !isMissing(name, value),
  )
  const schema = { type, properties: Object.fromEntries(checked.map(([name]) => [name, properties[name] as object])) }
  return { schema, value: Object.fromEntries(checked) }
}

/** Converts a JSON pointer to a form path: `/grants/0/principalId` becomes `grants.0.principalId`. */
const pathOf = (pointer: string) => pointer.slice(1).replaceAll('/', '.')
