import type { Endpoint } from '@skerry/contract/endpoint'
import { pathParamNames, pathParamRule } from '@skerry/contract/params'
import type { TObject, TProperties, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { fail, type Refusal } from '../kernel/errors.ts'
import { checkBounds, unknownField } from './bounds.ts'
import { checkTexts, isUnstorable } from './texts.ts'

export type Params = Record<string, string>

type Fields = Record<string, unknown>

export interface Checks {
  params: (params: unknown) => Params
  query: (query: unknown) => Fields
  body: (body: unknown) => Fields
}

/**
 * Creates the checks of an endpoint. Each schema is compiled at its first request, because most servers never use most
 * endpoints.
 */
export function compileChecks(endpoint: Endpoint): Checks {
  const query = once(() => Compile(endpoint.query))
  const body = once(() => Compile(endpoint.body))
  const coerce = coercion(endpoint.query)
  return {
    params: paramsCheck(endpoint.path),
    query: (given) => check(endpoint.query, query(), coerce(given), 'query'),
    body: (given) => check(endpoint.body, body(), given === undefined ? {} : given, 'body'),
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Refuses a malformed parameter with the message of its rule, before any look-up. */
function paramsCheck(path: string): Checks['params'] {
  const checks = pathParamNames(path).map((name) => {
    const rule = pathParamRule(path, name)
    return { name, rule, pattern: new RegExp(rule.schema.pattern) }
  })
  return (given) => {
    // The router passes strings, one for each name in the path.
    const params = given as Params
    for (const { name, rule, pattern } of checks)
      if (!pattern.test(params[name] ?? '')) throw fail(rule.malformed, rule.message)
    for (const { name } of checks)
      if (isUnstorable(params[name] ?? ''))
        throw fail('invalid_request', `path.${name}: must not contain a NUL character`)
    return params
  }
}

/** Converts the strings of a query: integers and repeatable parameters get their type from the schema. */
function coercion(schema: TObject<TProperties>): (query: unknown) => Record<string, unknown> {
  const kinds = Object.entries(schema.properties).map(
    ([name, property]) => [name, (property as { type?: string }).type] as const,
  )
  const integers = new Set(kinds.filter(([, type]) => type === 'integer').map(([name]) => name))
  const arrays = new Set(kinds.filter(([, type]) => type === 'array').map(([name]) => name))
  return (query) => {
    const coerced = ([name, value]: [string, unknown]) => {
      if (integers.has(name) && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return [name, Number(value)]
      if (arrays.has(name) && !Array.isArray(value)) return [name, [value]]
      return [name, value]
    }
    // No assignment to an object here: a parameter called __proto__ must be an unknown field like any other.
    return Object.fromEntries(Object.entries(query as Record<string, unknown>).map(coerced))
  }
}

function check(schema: TSchema, validator: Validator, value: unknown, place: 'query' | 'body'): Fields {
  checkBounds(schema, value, place)
  if (!validator.Check(value)) throw complaint(validator as Validator<TProperties, TSchema>, value, place)
  checkTexts(schema, value, place)
  return value as Fields
}

const compiled = new WeakMap<TSchema, Validator>()

/**
 * Checks a part of a body against the schema that another part of it names. The error messages are those of a body
 * check.
 */
export function checkShape(schema: TObject<TProperties>, value: unknown, place: string): void {
  const validator = compiled.get(schema) ?? (Compile(schema) as unknown as Validator)
  compiled.set(schema, validator)
  checkBounds(schema, value, place)
  if (!validator.Check(value)) throw complaint(validator, value, place)
}

/** Builds an error that names the path and the rule, never the value. */
function complaint(validator: Validator, value: unknown, place: string): Refusal {
  const problems = validator.Errors(value)
  const stray = problems.find((problem) => problem.keyword === 'additionalProperties')
  if (stray) return unknownField(at(place, stray.instancePath), String(stray.params.additionalProperties[0]))
  return fail('invalid_request', brokenRule(problems, place))
}

function brokenRule(problems: ReturnType<Validator['Errors']>, place: string): string {
  const missing = problems.find((problem) => problem.keyword === 'required')
  if (missing) return `${at(place, missing.instancePath)}: ${missing.params.requiredProperties[0]} is required`
  const first = problems.find((problem) => problem.keyword !== 'boolean') ?? problems[0]
  const pointer = first?.instancePath ?? ''
  const choices = problems.flatMap((problem) =>
    problem.keyword === 'const' && problem.instancePath === pointer ? [String(problem.params.allowedValue)] : [],
  )
  const rule = choices.length > 0 ? `must be ${choices.join(' or ')}` : (first?.message ?? 'is not valid')
  return `${at(place, pointer)}: ${rule}`
}

const at = (place: string, pointer: string) => place + pointer.replaceAll('/', '.')
