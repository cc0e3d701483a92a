import type { endpoints } from '@skerry/contract/endpoints'
import { messageOf } from './messages.ts'

type Endpoints = typeof endpoints
export type Heading = keyof Endpoints
export type OperationOf<H extends Heading> = keyof Endpoints[H]

/** Schemas and their checker are fetched with the first form: no page needs them to be shown. */
const load = () => Promise.all([import('@skerry/contract/endpoints'), import('typebox/value')])

/** Fetches what `fieldErrors` needs, so that it is there when the form is submitted. */
export const preloadCheck = (): void => void load().catch(() => {})

/** The part of a JSON Schema for objects that is read here. */
interface ObjectSchema {
  type: 'object'
  properties: Record<string, object>
  required?: string[]
}

/**
 * Values of a form -> what is wrong with them by the schema of the endpoint's body: messages by path (`name`,
 * `grants.0.principalId`). Only fields that the form has are checked, since code may add others before it sends the body;
 * an optional field that is empty is not sent, and so not checked. Without the schemas nothing is wrong: the server checks.
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

/** The schema and the value without what the form does not have. */
function restrict({ type, properties, required = [] }: ObjectSchema, values: object) {
  const isMissing = (name: string, value: unknown) => !required.includes(name) && (value === '' || value == null)
  const checked = Object.entries(values).filter(
    ([name, value]) => Object.hasOwn(properties, name) && !isMissing(name, value),
  )
  const schema = { type, properties: Object.fromEntries(checked.map(([name]) => [name, properties[name] as object])) }
  return { schema, value: Object.fromEntries(checked) }
}

/** A JSON pointer as forms write it: `/grants/0/principalId` -> `grants.0.principalId`. */
const pathOf = (pointer: string) => pointer.slice(1).replaceAll('/', '.')
