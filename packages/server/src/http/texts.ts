import { givenInstantPattern, instantPattern } from '@skerry/contract/patterns'
import type { TSchema } from 'typebox'
import { fail } from '../kernel/errors.ts'
import { storedInstant } from '../kernel/instant.ts'

/** The keywords of a JSON schema that lead to its strings. */
interface Node {
  anyOf?: TSchema[]
  items?: TSchema
  pattern?: string
  properties?: Record<string, TSchema>
}

const instantPatterns: readonly string[] = [instantPattern, givenInstantPattern]

/**
 * Refuses texts that match their schema and cannot be stored. They are: a lone surrogate, which JSON can encode and
 * UTF-8 cannot; a NUL, which PostgreSQL does not accept; an instant that does not exist or is out of range. It checks
 * every text of every request, so no route needs its own check.
 */
export function checkTexts(schema: TSchema | undefined, value: unknown, place: string): void {
  if (typeof value === 'string') checkText(schema, value, place)
  if (typeof value !== 'object' || value === null) return
  const nodes = nodesOf(schema)
  if (Array.isArray(value)) {
    const items = nodes.find((node) => node.items)?.items
    for (const [index, item] of value.entries()) checkTexts(items, item, `${place}.${index}`)
    return
  }
  for (const [name, member] of Object.entries(value)) {
    if (isUnstorable(name))
      throw fail('invalid_request', `${place}: a field name must be well-formed Unicode without NUL characters`)
    const known = nodes.find(({ properties }) => properties && Object.hasOwn(properties, name))
    checkTexts(known?.properties?.[name], member, `${place}.${name}`)
  }
}

function checkText(schema: TSchema | undefined, text: string, place: string): void {
  if (!text.isWellFormed()) throw fail('invalid_request', `${place}: must be well-formed Unicode`)
  if (text.includes('\0')) throw fail('invalid_request', `${place}: must not contain a NUL character`)
  const isInstant = nodesOf(schema).some(({ pattern }) => pattern !== undefined && instantPatterns.includes(pattern))
  if (isInstant && storedInstant(text) === null) throw fail('invalid_request', `${place}: is not a valid date and time`)
}

export const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed()

/** Returns the schema, or the alternatives in its `anyOf`. */
function nodesOf(schema: TSchema | undefined): Node[] {
  if (schema === undefined) return []
  const node = schema as Node
  return node.anyOf ? node.anyOf.flatMap(nodesOf) : [node]
}
