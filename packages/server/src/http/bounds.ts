import type { TSchema } from 'typebox'
import { fail, type Refusal } from '../kernel/errors.ts'

/** The keywords of JSON Schema that limit the number of items and fields. */
interface Bounded {
  items?: TSchema
  maxItems?: number
  properties?: Record<string, TSchema>
  additionalProperties?: unknown
  maxProperties?: number
}

/**
 * Refuses a value with more items or fields than its schema allows, before the full check. The full check visits
 * everything, and a body of megabytes can contain a million unknown fields.
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

/**
 * The error names the field, except in a map with free names: there the text may be a secret value in the wrong
 * position.
 */
export function unknownField(place: string, field: string): Refusal {
  const isName = !place.includes('.') || /^\w+$/.test(field)
  return fail('invalid_request', `${place}: unknown field${isName ? ` ${JSON.stringify(field.slice(0, 80))}` : ''}`)
}
