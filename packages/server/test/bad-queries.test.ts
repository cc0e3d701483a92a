import { apps } from '@skerry/contract/apps/endpoints'
import type { Endpoint } from '@skerry/contract/endpoint'
import { listEndpoints } from '@skerry/contract/endpoints'
import { limits } from '@skerry/contract/limits'
import { describe, expect, test } from 'vitest'
import { seal } from '../src/features/audit-proof/seal.ts'
import { newId } from '../src/kernel/context.ts'
import { isInstantField, type Schema, strayInstants } from './faults.ts'
import { type Broken, expectRefused } from './refusals.ts'
import { isOfAsker, isOfCustodian, isOfOverrider, isOfPerson, isOfUserAdmin, pathOf, titleOf } from './samples.ts'
import { openOneOfEach } from './scene.ts'
import { newMember, newPerson, newToken, putSecret } from './tenant.ts'
import { bearerFor } from './vault-scene.ts'

const { world, place } = await openOneOfEach()
const personAs = (await newPerson(world, 'person@example.com')).as
const reviewerAs = (await newMember(world, place.tenant, 'admin')).as

const all = listEndpoints().map(({ endpoint }) => endpoint)
const having = (parameter: string) => all.filter((endpoint) => parameter in endpoint.query.properties)

function callerOf(endpoint: Endpoint): string {
  if (isOfPerson(endpoint) || endpoint.path === '/v1/orgs') return personAs
  if (isOfCustodian(endpoint)) return place.custodian.as
  if (isOfAsker(endpoint)) return place.asker.as
  if (isOfOverrider(endpoint)) return place.overrider.as
  const inOrg = isOfUserAdmin(endpoint) ? reviewerAs : place.tenant.admin.as
  return bearerFor(place.vault, endpoint) ?? inOrg
}

function asked(endpoint: Endpoint, query: string, says: string): Broken {
  const path = `${pathOf(endpoint, place.params)}?${query}`
  const as = callerOf(endpoint)
  return { title: `${titleOf(endpoint)}?${query}`, method: endpoint.method, path, as, status: 400, says }
}

const refusedEach = (endpoints: Endpoint[], queries: string[], says: string) =>
  expectRefused(
    world,
    endpoints.flatMap((endpoint) => queries.map((query) => asked(endpoint, query, says))),
  )

/** The other parameters that the query requires, with values. */
const restOf = ({ query }: Endpoint, name: string): string =>
  ((query as { required?: string[] }).required ?? [])
    .filter((other) => other !== name)
    .map((other) => `&${other}=${other === 'entry' ? newId('audit') : 1}`)
    .join('')

describe('a query parameter', () => {
  test('that is unknown is refused by every endpoint, and the error names it', async () => {
    const names = ['unknown', '__proto__', 'constructor', 'Limit', 'limit[]', '']
    const cases = all.flatMap((endpoint) =>
      names.flatMap((name) =>
        [`${encodeURIComponent(name)}=1`, `${encodeURIComponent(name)}=1&${encodeURIComponent(name)}=2`].map((query) =>
          asked(endpoint, query, `query: unknown field ${JSON.stringify(name)}`),
        ),
      ),
    )
    await expectRefused(world, cases)
  })

  test('that takes one value is refused if it is sent twice', async () => {
    const single = all.flatMap((endpoint) =>
      Object.entries(endpoint.query.properties)
        .filter(([, schema]) => (schema as { type?: string }).type !== 'array')
        .map(([name]) => asked(endpoint, `${name}=1&${name}=1${restOf(endpoint, name)}`, `query.${name}: `)),
    )
    expect(single.length).toBeGreaterThan(30)
    await expectRefused(world, single)
  })

  test('that is a text is refused if it contains a NUL, and the error names it', async () => {
    const texts = all.flatMap((endpoint) =>
      Object.entries(endpoint.query.properties)
        .filter(([, schema]) => (schema as Schema).type !== 'integer')
        .flatMap(([name]) =>
          ['%00', 'a%00'].map((value) => asked(endpoint, `${name}=${value}${restOf(endpoint, name)}`, `query.${name}`)),
        ),
    )
    expect(texts.length).toBeGreaterThan(60)
    await expectRefused(world, texts)
  })

  test('that is a time is refused unless it exists and is in range, and the error names it', async () => {
    const beyond = ['9999-12-31T23:59:59.999-01:00', '1970-01-01T00:00:00%2B00:01', ...strayInstants]
    const instants = all.flatMap((endpoint) =>
      Object.entries(endpoint.query.properties)
        .filter(([, schema]) => isInstantField(schema as Schema))
        .flatMap(([name]) => beyond.map((value) => asked(endpoint, `${name}=${value}`, `query.${name}: `))),
    )
    expect(instants.length).toBeGreaterThan(20)
    await expectRefused(world, instants)
  })

  test('named limit is refused unless it is a whole number in range', async () => {
    const lists = having('limit')
    expect(lists.length).toBeGreaterThan(12)
    const wrong = [
      '0',
      '-1',
      '1000000000',
      '9999999999999999999',
      '1.5',
      '1e3',
      '%201',
      '1%20',
      '%2B1',
      '0x10',
      '',
      'all',
      'NaN',
      '١',
      'null',
    ]
    await refusedEach(
      lists,
      wrong.map((value) => `limit=${value}`),
      'query.limit: ',
    )
    const over = lists.map((endpoint) => {
      const { maximum } = endpoint.query.properties.limit as unknown as { maximum: number }
      return asked(endpoint, `limit=${maximum + 1}`, 'query.limit: ')
    })
    await expectRefused(world, over)
  })

  test('named cursor is refused if it is not a cursor', async () => {
    const pack = (text: string) => `cursor=${Buffer.from(text).toString('base64url')}`
    const at = '2026-01-01T00:00:00.000Z'
    const wrong = [
      'cursor=',
      'cursor=garbage',
      'cursor=AAAA',
      `cursor=${'A'.repeat(limits.cursorCharacters)}`,
      `cursor=${'A'.repeat(limits.cursorCharacters + 1)}`,
      'cursor=%00',
      'cursor=%27%20or%201=1--',
      pack(at),
      pack(`${at} `),
      pack(` ${at}`),
      pack(`${at} ' or 1=1`),
      pack(`${at} a b`),
      pack(`${at} 99999999999999999999`),
      pack(`${at} ${'a'.repeat(200)}`),
      pack(`${at} \u0000`),
      pack('2026-02-30T00:00:00.000Z app_0000000000000000000000'),
      pack('0000-01-01T00:00:00.000Z app_0000000000000000000000'),
      pack('2026-01-01T99:00:00.000Z app_0000000000000000000000'),
      pack('infinity app_0000000000000000000000'),
      pack('now app_0000000000000000000000'),
    ]
    const lists = having('cursor')
    expect(lists.length).toBeGreaterThan(12)
    await refusedEach(lists, wrong, 'query.cursor: ')
  })

  test('named cursor is refused if it comes from another list', async () => {
    const { orgId, admin } = place.tenant
    for (const slug of ['one', 'two'])
      await world.call(apps.create, { as: admin.as, params: { orgId }, body: { name: slug, slug } })
    const page = await world.call(apps.list, { as: admin.as, params: { orgId }, query: { limit: 1 } })
    const cursor = page.body.nextCursor as string
    const others = having('cursor').filter((endpoint) => titleOf(endpoint) !== titleOf(apps.list))
    await refusedEach(others, [`cursor=${cursor}`], 'query.cursor: not a cursor of this list')
    const next = await world.call(apps.list, { as: admin.as, params: { orgId }, query: { limit: 1, cursor } })
    expect(next.status).toBe(200)
  })

  test('of the audit log is refused unless it is an action, a type or an id', async () => {
    const [trail] = having('resourceType')
    const wrong = (name: string, values: string[]) =>
      values.map((value) => asked(trail as Endpoint, `${name}=${value}`, `query.${name}: `))
    await expectRefused(world, [
      ...wrong('action', ['', 'app', 'app.created%0A', 'appXcreated', 'app.created%7Corg.created', '%25', '.*']),
      ...wrong('resourceType', ['', 'applications', 'constructor', '%25']),
      ...wrong('resourceId', ['', '%25', 'a'.repeat(65), '%00', 'a%20b']),
      ...wrong('actorId', ['', '%25', 'a'.repeat(65), '%00', 'a%20b']),
    ])
  })

  test('of resolve is refused if it is malformed or sent too many times', async () => {
    const [resolve] = having('branch') as [Endpoint]
    const id = place.params.envId as string
    const many = Array.from({ length: limits.resolveWithMax + 1 }, (_, index) => `with=g${index}:a`).join('&')
    const wrong = (name: string, values: string[]) =>
      values.map((value) => asked(resolve, `env=${id}&${name}=${value}`, `query.${name}`))
    await expectRefused(world, [
      ...['', id.slice(0, -1), `${id}0`, `app_${id.slice(4)}`, '%00', '*'].map((value) =>
        asked(resolve, `env=${value}`, 'query.env: '),
      ),
      ...wrong('with', ['', ':', 'a', 'a:', ':a', 'a:b:c', 'A:b', 'a:b%00', 'a:b%0A', '%E2%80%AE:b']),
      ...wrong('branch', ['', 'UPPER', '-a', 'a%00', 'a%0A', 'a'.repeat(64), '..', '%E4%B8']),
      asked(resolve, `env=${id}&${many}`, 'query.with: '),
      asked(resolve, 'with=a:b', 'query.env: '),
    ])
  })

  test('named expectedVersion is refused unless it is a version, and then nothing is deleted', async () => {
    const [deletion] = having('expectedVersion') as [Endpoint]
    await refusedEach(
      [deletion],
      ['-1', '', '1.0', '2147483648', 'latest'].map((value) => `expectedVersion=${value}`),
      'query.expectedVersion: ',
    )
  })
})

describe('a limit', () => {
  test('of 1 and a limit of the maximum are accepted by every list', async () => {
    await putSecret(world, place.tenant, place.params.envId as string, 'SECOND')
    await newToken(world, place.tenant)
    const reader = await newMember(world, place.tenant, 'admin')
    await seal(world.server.context)
    for (const endpoint of having('limit')) {
      const { maximum } = endpoint.query.properties.limit as unknown as { maximum: number }
      const inPerson = endpoint.path === '/v1/orgs' || isOfPerson(endpoint) || isOfUserAdmin(endpoint)
      const as = inPerson ? reader.as : callerOf(endpoint)
      for (const limit of [1, maximum]) {
        const answer = await world.call(endpoint, { as, params: place.params, query: { limit } })
        expect([endpoint.path, limit, answer.status]).toEqual([endpoint.path, limit, 200])
        const rows = Object.values(answer.body as unknown as Record<string, unknown>).find(Array.isArray)
        expect(rows?.length).toBeLessThanOrEqual(limit)
      }
    }
  })
})
