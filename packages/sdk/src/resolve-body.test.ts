import { newToken } from '@skerry/crypto/token'
import { describe, expect, test } from 'vitest'
import { app, branch, branchBody, ids, layer, resolveBody, scope, shared } from '../test/world.ts'
import { parseResolveBody, type ResolveBody, type ResolveQuery, toResolveQuery } from './resolve-body.ts'

const { publicKeyJwk } = await newToken('skerry')
const honest = await resolveBody(publicKeyJwk)
const branched = await branchBody(publicKeyJwk)
const [group, own] = honest.layers as [ResolveBody['layers'][0], ResolveBody['layers'][0]]
const onTop = branched.layers[2]!
const plain: ResolveQuery = { with: [] }

const parse = (body: unknown, asked = plain) => parseResolveBody(JSON.stringify(body), asked)
const malformed = expect.objectContaining({ name: 'SkerryError', code: 'malformed_answer' })
const other = 'env_0000000000000000000000'

describe('an honest answer', () => {
  test.each<[string, ResolveBody, ResolveQuery]>([
    ['of a bound token', honest, plain],
    ['of an environment', honest, { env: ids.envId, with: [] }],
    ['with a group at a chosen environment', honest, { with: ['shared:production'] }],
    ['with a group that has no such environment', { scope, layers: [own] }, { with: ['shared:staging'] }],
    ['of a branch by its slug', branched, { env: ids.envId, branch: 'pr-7', with: [] }],
    ['of a branch by its id', branched, { branch: ids.branchId, with: [] }],
    ['of a token that is bound to a branch', branched, plain],
    ['of a branch asked for as an environment', branched, { env: ids.branchId, with: [] }],
  ])('%s is accepted', (_, body, asked) => {
    expect(parse(body, asked)).toEqual(body)
  })

  test('is stripped of members that this client does not know', () => {
    const extended = { ...honest, more: 1, layers: [{ ...own, extra: true }] }
    expect(parse(extended)).toEqual({ scope, layers: [own] })
  })
})

describe('a hostile answer', () => {
  const stray = { ...own, environmentId: other }
  test.each<[string, unknown, ResolveQuery?]>([
    ['that is not an object', []],
    ['without scope', { layers: [own] }],
    ['without layers', { scope }],
    ['with an empty list of layers', { scope, layers: [] }],
    ['with the app before a group', { scope, layers: [own, group] }],
    ['with two app layers', { scope, layers: [own, { ...own, environmentId: other }] }],
    ['with a branch before the app', { ...branched, layers: [onTop, own] }],
    ['with two branches', { ...branched, layers: [own, onTop, { ...onTop, environmentId: other }] }],
    ['with an unknown source', { scope, layers: [{ ...own, source: 'override' }] }],
    ['with one environment twice', { scope, layers: [{ ...group, environmentId: ids.envId }, own] }],
    ['with one group twice', { scope, layers: [group, { ...group, environmentId: other }, own] }],
    ['with a group layer that names no group', { scope, layers: [{ ...group, groupSlug: undefined }, own] }],
    ['with a group on the app', { scope, layers: [group, { ...own, groupSlug: 'other' }] }],
    ['with a group on the branch', { ...branched, layers: [own, { ...onTop, groupSlug: 'other' }] }],
    ['with one name twice in a layer', { scope, layers: [{ ...own, secrets: [...own.secrets, own.secrets[0]] }] }],
    ['with an invalid secret name', { scope, layers: [{ ...own, secrets: [{ name: 'A=B', ciphertext: 'sc1.' }] }] }],
    ['with a numeric ciphertext', { scope, layers: [{ ...own, secrets: [{ name: 'A', ciphertext: 1 }] }] }],
    ['with an escape sequence in a slug', { scope, layers: [{ ...own, slug: 'a\u001b[2J' }] }],
    ['with a null layer', { scope, layers: [null] }],
    [
      'of another environment in scope and layer',
      { scope: { ...scope, envId: other }, layers: [stray] },
      { env: ids.envId, with: [] },
    ],
    ['of another environment in the scope alone', { scope: { ...scope, envId: other }, layers: [own] }],
    ['of another environment in the layer alone', { scope, layers: [stray] }],
    ['with a branch that was not asked for', branched, { env: ids.envId, with: [] }],
    ['with a branch that the scope does not name', { scope, layers: [own, onTop] }],
    ['with a branch in the scope alone', { scope: { ...scope, branchOf: ids.envId }, layers: [own] }],
    ['without the branch that was asked for', honest, { branch: 'pr-7', with: [] }],
    ['with another branch', branched, { branch: 'pr-8', with: [] }],
    ['with a group at another environment', honest, { with: ['shared:staging'] }],
  ])('%s is refused', (_, body, asked) => {
    expect(() => parse(body, asked)).toThrow(malformed)
  })

  test('that is cut short is refused, whatever its length', () => {
    const text = JSON.stringify(honest)
    for (let length = 0; length < text.length; length += 37) {
      expect(() => parseResolveBody(text.slice(0, length), plain)).toThrow(malformed)
    }
  })

  test('cannot change the prototype of any object', () => {
    const text = JSON.stringify(honest).replace('{"scope"', '{"__proto__":{"polluted":1},"scope"')
    expect(parseResolveBody(text, plain)).toEqual(honest)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('the query', () => {
  test('has one spelling, whatever the order and form of its groups', () => {
    const expected = { with: ['db:eu', 'shared:staging'] }
    expect(toResolveQuery({ with: { shared: 'staging', db: 'eu' } })).toEqual(expected)
    expect(toResolveQuery({ with: ['shared:staging', 'db:eu'] })).toEqual(expected)
  })

  test.each([
    { with: JSON.parse('"shared:staging"') },
    { with: ['shared'] },
    { with: ['shared:a:b'] },
    { with: ['Shared:a'] },
    { with: { shared: '' } },
    { with: ['shared:a', 'shared:b'] },
    { env: 'production' },
    { env: 'env_../x' },
    { branch: 'Feature/1' },
  ])('is checked before it is sent: %j', (asked) => {
    expect(() => toResolveQuery(asked)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})

test('the layers in this suite have the form that writers produce', async () => {
  expect((await layer(app, {}, publicKeyJwk)).wrappedDek).toMatch(/^wd1\./)
  expect([shared.source, branch.source]).toEqual(['group', 'branch'])
})
