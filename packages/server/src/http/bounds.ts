import type { TSchema } from 'typebox'
import { fail, type Refusal } from '../kernel/errors.ts'

/** What JSON Schema says of how much there may be. */
interface Bounded {
  items?: TSchema
  maxItems?: number
  properties?: Record<string, TSchema>
  additionalProperties?: unknown
  maxProperties?: number
}

/**
 * Refuses a value that holds more than its schema names, before it is checked: a check looks at all there is, and in a body
 * of megabytes that can be a million fields that nobody asked for.
 */
export function checkBounds(schema: TSchema, value: unknown, place: string): void {
  if (Array.isArray(value)) checkItems(schema, value, place)
  else if (typeof value === 'object' && value !== null) checkFields(schema, value as Record<string, unknown>, place)
}

function checkItems({ items, maxItems = Number.POSITIVE_INFINITY }: Bounded, values: unknown[], place: string): void {
  if (values.length > maxItems) throw fail('invalid_request', `${place}: must not have more than ${maxItems} items`)
  if (items) for (const [index, item] of values.entries()) checkBounds(items, item, `${place}.${index}`)
}

function checkFields(bounded: Bounded, values: Record<string, unknown>, place: string): void {
  const { properties, additionalProperties, maxProperties = Number.POSITIVE_INFINITY } = bounded
  const fields = Object.keys(values)
  if (fields.length > maxProperties)
    throw fail('invalid_request', `${place}: must not have more than ${maxProperties} entries`)
  if (!properties) return
  for (const field of fields) {
    const known = Object.hasOwn(properties, field) ? properties[field] : undefined
    if (known) checkBounds(known, values[field], `${place}.${field}`)
    else if (additionalProperties === false) throw unknownField(place, field)
  }
}

/** Named, unless it stands where names are free and may be anything: also a value that slipped into its place. */
export function unknownField(place: string, field: string): Refusal {
  const isName = !place.includes('.') || /^\w+$/.test(field)
  return fail('invalid_request', `${place}: unknown field${isName ? ` ${JSON.stringify(field.slice(0, 80))}` : ''}`)
}
