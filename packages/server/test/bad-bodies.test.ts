import type { Endpoint } from '@skerry/contract/endpoint'
import { listEndpoints } from '@skerry/contract/endpoints'
import { limits } from '@skerry/contract/limits'
import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { offCurveJwk } from './blobs.ts'
import { blobFaults, type Fault, faultsOf, formFaults, isInstantField, type Schema, strayInstants } from './faults.ts'
import { type Broken, expectRefused } from './refusals.ts'
import {
  buildSamples,
  isOfAsker,
  isOfOverrider,
  isOfPerson,
  isOfUserAdmin,
  pathOf,
  type Sample,
  titleOf,
} from './samples.ts'
import { openOneOfEach } from './scene.ts'
import { newMember, newPerson } from './tenant.ts'
import { bearerFor } from './vault-scene.ts'

const { world, place } = await openOneOfEach()
const samples = await buildSamples(world, place)
const person = (await newPerson(world, 'sends@example.com')).as
const userAdmin = (await newMember(world, place.tenant, 'admin')).as

const withBody = listEndpoints()
  .map(({ endpoint }) => endpoint)
  .filter((endpoint) => Object.keys(endpoint.body.properties).length > 0)
const mutations = listEndpoints()
  .map(({ endpoint }) => endpoint)
  .filter((endpoint) => endpoint.method !== 'GET')

const sampleOf = (endpoint: Endpoint): Sample => samples[titleOf(endpoint)] ?? { as: callerOf(endpoint), body: {} }

function callerOf(endpoint: Endpoint): string {
  if (isOfPerson(endpoint)) return person
  if (isOfAsker(endpoint)) return place.asker.as
  if (isOfOverrider(endpoint)) return place.overrider.as
  const inOrg = isOfUserAdmin(endpoint) ? userAdmin : place.tenant.admin.as
  return bearerFor(place.vault, endpoint) ?? inOrg
}

/** The endpoint's sample request with another body, which the server must refuse with 400. */
function broken(endpoint: Endpoint, what: string, body: string | Uint8Array, says: string): Broken {
  const title = `${titleOf(endpoint)}: ${what}`
  const { as } = sampleOf(endpoint)
  return { title, method: endpoint.method, path: pathOf(endpoint, place.params), as, body, status: 400, says }
}

/** Returns the sample as JSON with one value replaced by raw text, because JSON.stringify cannot write all faults. */
function withField(body: Record<string, unknown>, field: string, value: string): string {
  const others = Object.entries(body).filter(([name]) => name !== field)
  return `{${[...others.map(([name, each]) => `${JSON.stringify(name)}:${JSON.stringify(each)}`), `${JSON.stringify(field)}:${value}`].join(',')}}`
}

/** Returns one broken request for each fault of each field of each body. */
const everyField = (faults: (field: string, schema: Schema, sample: unknown) => Fault[]): Broken[] =>
  withBody.flatMap((endpoint) => {
    const { body } = sampleOf(endpoint)
    return Object.entries(endpoint.body.properties).flatMap(([field, schema]) =>
      faults(field, schema as Schema, body[field]).map(([what, value]) =>
        broken(endpoint, `${field} is ${what}`, withField(body, field, value), `body.${field}`),
      ),
    )
  })

const isPublicKey = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text !== undefined && /^\{[^{}]*"crv":"P-256"/.test(text)
}

/** Paths of the public keys in a body, as text or as objects, such as `wrappingKey.jwk`. */
function publicKeysIn(value: unknown, path: string[] = []): string[] {
  if (isPublicKey(value)) return [path.join('.')]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => publicKeysIn(each, [...path, name]))
}

/** Returns a copy of the body in which the key at this path keeps its form but is not on its curve. */
function offCurveAt(body: Record<string, unknown>, path: string): Record<string, unknown> {
  const [name, ...rest] = path.split('.') as [string, ...string[]]
  const value = body[name]
  if (rest.length > 0) {
    const changed = offCurveAt(value as Record<string, unknown>, rest.join('.'))
    return { ...body, [name]: Array.isArray(value) ? Object.values(changed) : changed }
  }
  return { ...body, [name]: typeof value === 'string' ? offCurveJwk() : JSON.parse(offCurveJwk()) }
}

type Path = (string | number)[]

/** The paths of all texts in a body, at any depth. */
function textsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  const names = Array.isArray(value) ? value.keys() : Object.keys(value)
  return [...names].flatMap((name) => textsIn((value as Record<string | number, unknown>)[name], [...path, name]))
}

/** Returns a copy in which the text at this path is changed. */
function withText(value: unknown, [name, ...rest]: Path, change: (text: string) => string): unknown {
  if (name === undefined) return change(value as string)
  const copy = structuredClone(value) as Record<string | number, unknown>
  copy[name] = withText(copy[name], rest, change)
  return copy
}

describe('samples', () => {
  test('are valid and have every field, so that a broken request has only the fault that the test makes', () => {
    expect(Object.keys(samples).sort()).toEqual(withBody.map(titleOf).sort())
    for (const endpoint of withBody) {
      const { body } = sampleOf(endpoint)
      expect([titleOf(endpoint), Compile(endpoint.body).Check(body)]).toEqual([titleOf(endpoint), true])
      expect(Object.keys(body).sort()).toEqual(Object.keys(endpoint.body.properties).sort())
    }
  })
})

describe('a malformed or oversized body', () => {
  const texts: [string, string, string][] = [
    ['an open brace', '{', 'body: is not JSON'],
    ['cut off', '{"name":"a', 'body: is not JSON'],
    ['words', 'name=a', 'body: is not JSON'],
    ['single quotes', "{'name':'a'}", 'body: is not JSON'],
    ['two values', '{}{}', 'body: is not JSON'],
    ['a trailing comma', '{"name":"a",}', 'body: is not JSON'],
    ['a byte order mark', '\ufeff{}', 'body: is not JSON'],
    ['a NUL', '\u0000', 'body: is not JSON'],
    ['spaces', '   ', 'body: is not JSON'],
    ['an array', '[]', 'body: '],
    ['an array of one', '[{}]', 'body: '],
    ['a text', '"text"', 'body: '],
    ['a number', '1', 'body: '],
    ['true', 'true', 'body: '],
    ['null', 'null', 'body: '],
    ['ten thousand brackets', '['.repeat(10_000) + ']'.repeat(10_000), 'body: '],
    ['ten thousand braces', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'body: is nested deeper than 32 levels'],
  ]

  test('is refused by every mutation', async () => {
    await expectRefused(
      world,
      mutations.flatMap((endpoint) => texts.map(([what, text, says]) => broken(endpoint, what, text, says))),
    )
  })

  test('is refused if its bytes are not valid UTF-8, instead of stored with other characters', async () => {
    const sound = (endpoint: Endpoint) => Buffer.from(JSON.stringify(sampleOf(endpoint).body))
    const spoilt = (endpoint: Endpoint) =>
      Buffer.concat([sound(endpoint).subarray(0, -2), Buffer.from([0xff, 0x22, 0x7d])])
    await expectRefused(
      world,
      withBody.map((endpoint) => broken(endpoint, 'a byte of no character', spoilt(endpoint), 'body: is not JSON')),
    )
  })

  test('is refused above 2 MiB, and above 64 KiB on routes that need no credential', async () => {
    const large = (bodyBytes: number) => JSON.stringify({ name: 'a'.repeat(bodyBytes) })
    const usual = mutations.filter(({ bodyBytes }) => bodyBytes <= limits.bodyBytes)
    expect(usual.length).toBeGreaterThan(mutations.length - 3)
    for (const { surface, bodyBytes } of usual) expect(bodyBytes).toBe(surface === 'none' ? 65_536 : 2_097_152)
    await expectRefused(
      world,
      usual.map((endpoint) => {
        const { bodyBytes } = endpoint
        return broken(endpoint, 'large', large(bodyBytes), `body: larger than ${bodyBytes} bytes`)
      }),
    )
  })
})

/** Whether the endpoint refuses unknown fields. OAuth requires the token endpoint to ignore unknown parameters. */
const isClosed = ({ body }: { body: object }) =>
  (body as { additionalProperties?: unknown }).additionalProperties === false

describe('a field', () => {
  test('that is unknown is refused, and the error names it', async () => {
    const names = [
      'unknown',
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '',
      ' name',
      'Name',
      'é"\\',
    ]
    await expectRefused(
      world,
      mutations.filter(isClosed).flatMap((endpoint) =>
        names.map((name) => {
          const says = `body: unknown field ${JSON.stringify(name)}`
          return broken(endpoint, `${name} is unknown`, withField(sampleOf(endpoint).body, name, '{"a":1}'), says)
        }),
      ),
    )
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  })

  test('that is required but missing is named in the error', async () => {
    const all = withBody.flatMap((endpoint) =>
      ((endpoint.body as { required?: string[] }).required ?? []).map((field) => {
        const { [field]: _, ...rest } = sampleOf(endpoint).body
        return broken(endpoint, `${field} is missing`, JSON.stringify(rest), `body: ${field} is required`)
      }),
    )
    expect(all.length).toBeGreaterThan(25)
    await expectRefused(world, all)
  })

  test('of a wrong type, too long, out of range or with invalid characters is refused, and the error names it', async () => {
    const all = everyField((_, schema, sample) => faultsOf(schema, sample))
    expect(all.length).toBeGreaterThan(400)
    await expectRefused(world, all)
  })

  test('with a NUL in any text, at any depth, is refused, and the error names it', async () => {
    const spoil: [string, (text: string) => string][] = [
      ['nothing but a NUL', () => '\u0000'],
      ['a NUL at its end', (text) => `${text}\u0000`],
    ]
    const all = withBody.flatMap((endpoint) => {
      const { body } = sampleOf(endpoint)
      return textsIn(body).flatMap((path) =>
        spoil.map(([what, change]) =>
          broken(
            endpoint,
            `${path.join('.')} is ${what}`,
            JSON.stringify(withText(body, path, change)),
            `body.${path[0]}`,
          ),
        ),
      )
    })
    expect(all.length).toBeGreaterThan(400)
    await expectRefused(world, all)
  })

  test('that is a time is refused unless it exists and is in range, and the error names it', async () => {
    const all = everyField((_, schema) =>
      isInstantField(schema) ? strayInstants.map((text): Fault => [text, JSON.stringify(text)]) : [],
    )
    const fields = new Set(all.map(({ title }) => title.split(' is ')[0]))
    expect([...fields].sort()).toEqual([
      'PATCH /v1/orgs/:orgId/envs/:envId/secret-details/:name: expiresAt',
      'POST /v1/agents/:agentRef/activity: windowStart',
      'POST /v1/orgs/:orgId/tokens: expiresAt',
    ])
    await expectRefused(world, all)
  })

  test('that is an encrypted blob is refused unless its prefix and its number of segments are right', async () => {
    const isBlob = (sample: unknown) => typeof sample === 'string' && /^(sc|wd|pk)1\./.test(sample)
    const all = everyField((_, __, sample) => (isBlob(sample) ? blobFaults(sample as string) : []))
    expect(all.length).toBeGreaterThan(80)
    await expectRefused(world, all)
  })

  test('with a format of its own, such as a slug, is refused in any other format', async () => {
    const all = everyField((field, { anyOf = [] }) =>
      (formFaults[field] ?? [])
        .filter(([, value]) => !anyOf.some((literal) => literal.const === value))
        .map(([what, value]) => [what, JSON.stringify(value)]),
    )
    expect(all.length).toBeGreaterThan(80)
    await expectRefused(world, all)
  })

  test('that takes a public key is refused if the point is not on the curve, and the error names the field', async () => {
    const all = withBody.flatMap((endpoint) => {
      const { body } = sampleOf(endpoint)
      return publicKeysIn(body).map((path) =>
        broken(endpoint, `${path} is off the curve`, JSON.stringify(offCurveAt(body, path)), `body.${path}: `),
      )
    })
    const seen = new Set(all.map(({ title }) => title.replace(/ is off the curve$/, '')))
    const named = withBody.flatMap((endpoint) =>
      Object.keys(endpoint.body.properties)
        .filter((field) => /jwk|public.?key|wrappingKey/i.test(field))
        .map((field) => `${titleOf(endpoint)}: ${field === 'wrappingKey' ? 'wrappingKey.jwk' : field}`),
    )
    // `publicKey` is an SSH key. `recipientPublicKey` is checked after the provider's own fields: see leases.test.ts.
    const elsewhere = ['publicKey', 'recipientPublicKey'].map((field) => `POST /v1/orgs/:orgId/leases: ${field}`)
    expect([...seen, ...elsewhere]).toEqual(expect.arrayContaining(named))
    await expectRefused(
      world,
      all.filter(({ title }) => !elsewhere.some((one) => title.startsWith(one))),
    )
  })

  test('that takes an id is refused with a malformed id or an id of another kind', async () => {
    const idFields = ['groupId', 'tokenId', 'environmentId']
    const all = everyField((field, _, sample) => {
      if (!idFields.includes(field)) return []
      const id = sample as string
      const wrong = [
        `app_${id.slice(4)}`,
        id.slice(0, -1),
        `${id}0`,
        id.toUpperCase(),
        `${id.slice(0, -1)}_`,
        '../x',
        '*',
      ]
      return wrong.map((text) => [text, JSON.stringify(text)])
    })
    expect(all).toHaveLength(9 * 7)
    await expectRefused(world, all)
  })

  test('of a grant for a new branch is refused, and the error names the position of the grant in the list', async () => {
    const endpoint = withBody.find(({ path }) => path.endsWith('/branches')) as Endpoint
    const { body } = sampleOf(endpoint)
    const [grant] = body.grants as Record<string, unknown>[]
    const second = (more: object) => JSON.stringify({ ...body, grants: [grant, { ...grant, ...more }] })
    await expectRefused(world, [
      broken(endpoint, 'unknown', second({ unknown: 1 }), 'body.grants.1: unknown field "unknown"'),
      broken(endpoint, 'type', second({ principalType: 'm2m' }), 'body.grants.1.principalType'),
      broken(endpoint, 'key', second({ wrappedDek: 'x' }), 'body.grants.1.wrappedDek'),
      broken(endpoint, 'surrogate', second({ principalId: '\ud800' }), 'body.grants.1.principalId'),
      broken(endpoint, 'twice', second({}), 'body.grants.1: '),
    ])
  })

  test('may contain a ciphertext of the maximum size, but not one byte more', async () => {
    const endpoint = withBody.find(
      ({ method, path }) => method === 'PUT' && path.endsWith('/secrets/:name'),
    ) as Endpoint
    const full = 'sc1.AAAAAAAAAAAAAAAA.'.padEnd(limits.ciphertextBytes, 'A')
    const over = JSON.stringify({ ciphertext: `${full}A` })
    await expectRefused(world, [broken(endpoint, 'a byte more', over, 'body.ciphertext')])
    const params = { ...place.params, name: 'FULL' }
    const answer = await world.call(endpoint, { as: place.tenant.admin.as, params, body: { ciphertext: full } })
    expect(answer.status).toBe(201)
  })
})

describe('an empty body', () => {
  test('counts as no body: a deletion accepts both {} and nothing', async () => {
    const endpoint = mutations.find(({ method, path }) => method === 'DELETE' && path.endsWith('/:tokenId')) as Endpoint
    for (const body of [undefined, '', '{}']) {
      const answer = await world.call(endpoint, {
        as: place.tenant.admin.as,
        params: place.params,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      })
      expect([body, answer.status]).toEqual([body, 200])
    }
  })
})
