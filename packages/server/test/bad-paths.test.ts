import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import type { Endpoint } from '@skerry/contract/endpoint'
import { listEndpoints } from '@skerry/contract/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { idPattern } from '@skerry/contract/prefixes'
import { sync } from '@skerry/contract/sync/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from './blobs.ts'
import { buildPlace } from './callers.ts'
import { type Broken, expectRefused } from './refusals.ts'
import { buildSamples, isOfUserAdmin, pathOf, type Sample, titleOf } from './samples.ts'
import { openPlace } from './scene.ts'
import { grantKey, newApp, newEnv, newGroup, newMember } from './tenant.ts'

const { world, place: own } = await openPlace()
/** Another tenant, with one of everything. */
const other = await buildPlace(world)
const samples = await buildSamples(world, own)
const userAdmin = (await newMember(world, own.tenant, 'admin')).as

const inOrg = listEndpoints()
  .map(({ endpoint }) => endpoint)
  .filter(({ path }) => path.includes('/:orgId'))
const paramsOf = (path: string) => [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string)

/** These parameters are no ids. Erasing a vault user whom nobody knows is no error. */
const freeParams = ['name', 'version', 'userRef']

/** The key of a sync connection is asked for before the connection is there, under an id that names nothing yet. */
const isFree = ({ path }: { path: string }, value: string) =>
  path === sync.publicKey.path && new RegExp(idPattern('syncConnection')).test(value)

/** Every endpoint of an organization, sound but for the parameters given. */
function withParams(what: string, change: (name: string) => string[] | undefined): Broken[] {
  return inOrg.flatMap((endpoint) =>
    paramsOf(endpoint.path).flatMap((name) =>
      (change(name) ?? [])
        .filter((value) => !isFree(endpoint, value))
        .map((value) => {
          const inOrg = isOfUserAdmin(endpoint) ? userAdmin : own.tenant.admin.as
          const { as = inOrg, body } = samples[titleOf(endpoint)] ?? {}
          return {
            title: `${titleOf(endpoint)}: ${name} is ${what} (${value.slice(0, 80)})`,
            method: endpoint.method,
            path: pathOf(endpoint, { ...own.params, [name]: value }),
            as,
            body: body && JSON.stringify(body),
            status: name === 'name' ? 400 : 404,
            says: name === 'name' ? 'path: a secret name is' : 'no such',
          } satisfies Broken
        }),
    ),
  )
}

describe('an id in a path', () => {
  test('of another tenant’s object is not found, whatever the object', async () => {
    const all = withParams('another tenant’s', (name) =>
      freeParams.includes(name) ? [] : [other.params[name] as string],
    )
    expect(all.length).toBeGreaterThan(60)
    await expectRefused(world, all)
  })

  test('is not found in another organization, even with all ids of that one', async () => {
    const strangers = inOrg.map((endpoint) => ({
      title: titleOf(endpoint),
      method: endpoint.method,
      path: pathOf(endpoint, other.params),
      as: own.tenant.admin.as,
      body: samples[titleOf(endpoint)] && JSON.stringify(samples[titleOf(endpoint)]?.body),
      status: 404 as const,
      says: 'no such org',
    }))
    await expectRefused(world, strangers)
  })

  test('that names nothing, or is malformed, is not found', async () => {
    const wrong = (id: string) => [
      `${id.slice(0, 4)}${'0'.repeat(22)}`,
      id.slice(0, -1),
      `${id}0`,
      `${id.slice(0, -1)}_`,
      `xxx_${id.slice(4)}`,
      id.toUpperCase(),
      ` ${id}`.replace(' ', '%20'),
      `${id}%0A`,
      `${id.slice(0, -1)}%00`,
      '%00',
      '%2e%2e%2f',
      '%27%20or%20%271%27%3D%271',
      '%F0%9F%98%80',
      '*',
      'null',
      '__proto__',
      'a'.repeat(290),
      'a'.repeat(5000),
    ]
    await expectRefused(
      world,
      withParams('malformed', (name) => (freeParams.includes(name) ? [] : wrong(own.params[name] as string))),
    )
  })

  test('of an object that hangs on another one is not found', async () => {
    const { tenant, params } = own
    const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    const groupId = (await newGroup(world, tenant)).id
    const path = (endpoint: { path: string }, more: Record<string, string>) => pathOf(endpoint, { ...params, ...more })
    const as = tenant.admin.as
    await expectRefused(world, [
      {
        title: 'grant of another environment',
        method: 'DELETE',
        path: path(grants.delete, { envId }),
        as,
        status: 404,
      },
      { title: 'group not composed', method: 'DELETE', path: path(composition.delete, { groupId }), as, status: 404 },
    ])
  })
})

test('a free text in a path is refused, and named, with a NUL in it', async () => {
  const free = withParams('spoilt', (name) => (name === 'userRef' || name === 'version' ? ['a%00', '%00'] : []))
  expect(free.length).toBeGreaterThan(0)
  for (const { title, method, path, as } of free) {
    const response = await fetch(`${world.url}${path}`, { method, headers: { authorization: as ?? '' } })
    expect([title, [400, 404].includes(response.status)]).toEqual([title, true])
  }
})

describe('a secret’s name in a path', () => {
  test('that is none is refused in the words of the rule', async () => {
    const wrong = [
      '1A',
      'A-B',
      'A.B',
      'A%20B',
      '%20',
      'A%00',
      'A%0A',
      '%C3%84',
      'A%2FB',
      '-',
      'a'.repeat(256),
      'a'.repeat(4000),
    ]
    await expectRefused(
      world,
      withParams('no name', (name) => (name === 'name' ? wrong : [])),
    )
  })

  test('of 255 characters is taken, and so is one that JavaScript gives a meaning', async () => {
    const { tenant, params } = own
    for (const name of ['a'.repeat(255), '__proto__', 'constructor', '_']) {
      const [put] = inOrg.filter(({ method, path }) => method === 'PUT' && path.endsWith('/secrets/:name'))
      const body = { ciphertext: samples[titleOf(put as Endpoint)]?.body.ciphertext as string }
      const answer = await world.call(put as Endpoint, { as: tenant.admin.as, params: { ...params, name }, body })
      expect([name, answer.status]).toEqual([name, 201])
    }
  })
})

describe('an id in a body', () => {
  const refused = (
    title: string,
    endpoint: { method: string; path: string },
    body: object,
    status: 400 | 404 | 409,
    says: string,
  ): Broken => ({
    title,
    method: endpoint.method,
    path: pathOf(endpoint, own.params),
    as: own.tenant.admin.as,
    body: JSON.stringify(body),
    status,
    says,
  })

  test('of another tenant’s group or environment is not found', async () => {
    const { body } = samples[titleOf(tokens.create)] as Sample
    await expectRefused(world, [
      refused('group', composition.set, { groupId: other.params.groupId }, 404, 'body.groupId: '),
      refused(
        'environment',
        tokens.create,
        { ...body, environmentId: other.params.envId },
        404,
        'body.environmentId: ',
      ),
      refused('branch', tokens.create, { ...body, environmentId: other.branchId }, 404, 'body.environmentId: '),
    ])
  })

  test('of another tenant’s principal is granted no key, nor is one that is nobody’s', async () => {
    const stranger = await newMember(world, other.tenant)
    const wrappedDek = wrappedKey()
    const nobody = [
      { principalType: 'service_token', principalId: other.params.tokenId },
      { principalType: 'service_token', principalId: other.tenant.admin.id },
      { principalType: 'service_token', principalId: stranger.id },
      { principalType: 'service_token', principalId: own.tenant.machine.id },
      { principalType: 'service_token', principalId: 'skt_0000000000000000000000' },
      { principalType: 'user', principalId: stranger.id },
      { principalType: 'user', principalId: own.params.tokenId },
      { principalType: 'user', principalId: 'usr_0000000000000000000000' },
      { principalType: 'user', principalId: '__proto__' },
    ]
    const fork = { slug: 'fork', wrappedDek: wrappedKey() }
    await expectRefused(
      world,
      nobody.flatMap((principal) => [
        refused('grant', grants.create, { ...principal, wrappedDek }, 400, 'body.principalId: '),
        refused('fork', branches.create, { ...fork, grants: [{ ...principal, wrappedDek }] }, 400, 'body.grants.0: '),
      ]),
    )
  })

  test('of a token that another tenant has registered is taken, and says no more', async () => {
    const { body } = samples[titleOf(tokens.create)] as Sample
    const says = 'body.tokenId: registered already'
    await expectRefused(world, [
      refused('theirs', tokens.create, { ...body, tokenId: other.params.tokenId }, 409, says),
      refused('own', tokens.create, { ...body, tokenId: own.params.tokenId }, 409, says),
    ])
  })

  test('that is there already, or a name that is, is a conflict', async () => {
    const { orgId } = own.tenant
    const app = await world.call(apps.get, {
      as: own.tenant.admin.as,
      params: { orgId, appId: own.params.appId as string },
    })
    const member = await newMember(world, own.tenant)
    await grantKey(world, own.tenant, own.params.envId as string, member)
    const again = { principalType: 'user', principalId: member.id, wrappedDek: wrappedKey() }
    await expectRefused(world, [
      refused('slug', apps.create, { name: 'Again', slug: app.body.app.slug }, 409, 'body.slug: '),
      refused('grant', grants.create, again, 409, member.id),
    ])
  })
})
