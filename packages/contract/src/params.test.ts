import { describe, expect, test } from 'vitest'
import { listEndpoints } from './endpoints.ts'
import { pathParamNames, pathParamRule, pathParams } from './params.ts'

describe('path parameters', () => {
  test('every parameter of every path has a row, and every row is used', () => {
    const used = listEndpoints().flatMap(({ endpoint }) => pathParamNames(endpoint.path))
    expect([...new Set(used)].sort()).toEqual(Object.keys(pathParams).sort())
  })

  test('names come in the order of the path', () => {
    expect(pathParamNames('/v1/orgs/:orgId/envs/:envId/secrets/:name/versions')).toEqual(['orgId', 'envId', 'name'])
    expect(pathParamNames('/health')).toEqual([])
  })

  test('a malformed id is not found, a malformed secret name or user reference is an invalid request', () => {
    const texts = ['name', 'userRef']
    const malformed = Object.entries(pathParams).map(([name, rule]) => [name, rule.malformed] as const)
    for (const [name, code] of malformed) expect(code).toBe(texts.includes(name) ? 'invalid_request' : 'not_found')
  })

  test('a parameter without a row is refused, whatever its name', () => {
    for (const name of ['nobody', 'constructor', '__proto__'])
      expect(() => pathParamRule(`/v1/:${name}`, name)).toThrow(`no rule for parameter ${name}`)
  })
})
