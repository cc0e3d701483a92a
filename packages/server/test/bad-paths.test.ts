import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import type { Endpoint } from '@skerry/contract/endpoint'
import { listEndpoints } from '@skerry/contract/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { idPattern } from '@skerry/contract/prefixes'
import { sync } from '@skerry/contract/sync/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from './blobs.ts'
import { makeOneOfEach } from './callers.ts'
import { type Broken, expectRefused } from './refusals.ts'
import { buildSamples, isOfOverrider, isOfUserAdmin, pathOf, type Sample, titleOf } from './samples.ts'
import { openOneOfEach } from './scene.ts'
import { grantKey, newApp, newEnv, newGroup, newMember } from './tenant.ts'

const { world, place: own } = await openOneOfEach()
/** Another tenant, with one object of each kind. */
const other = await makeOneOfEach(world)
const samples = await buildSamples(world, own)
const userAdmin = (await newMember(world, own.tenant, 'admin')).as

const inOrg = listEndpoints()
  .map(({ endpoint }) => endpoint)
  .filter(({ path }) => path.includes('/:orgId'))
const paramsOf = (path: string) => [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string)

/** Parameters that are not ids. `userRef` is free text: erasing an unknown vault user is not an error. */
const freeParams = ['name', 'version', 'userRef']

/** The error for an invalid text in a path. An invalid id or number names nothing, and is answered with 404. */
const textRules: Record<string, string> = { name: 'path: a secret name is', userRef: 'userRef: must have' }

/** Clients fetch the key of a sync connection before they create it. That path accepts an id that names nothing yet. */
const isFree = ({ path }: { path: string }, value: string) =>
  path === sync.publicKey.path && new RegExp(idPattern('syncConnection')).test(value)

/** Returns requests to every endpoint of an organization, each valid except for one path parameter. */
function withParams(what: string, change: (name: string) => string[] | undefined): Broken[] {
  return inOrg.flatMap((endpoint) =>
    paramsOf(endpoint.path).flatMap((name) =>
      (change(name) ?? [])
        .filter((value) => !isFree(endpoint, value))
        .map((value) => {
          const inOrg = isOfUserAdmin(endpoint) ? userAdmin : own.tenant.admin.as
          const caller = isOfOverrider(endpoint) ? own.overrider.as : inOrg
          const { as = caller, body } = samples[titleOf(endpoint)] ?? {}
          return {
            title: `${titleOf(endpoint)}: ${name} is ${what} (${value.slice(0, 80)})`,
            method: endpoint.method,
            path: pathOf(endpoint, { ...own.params, [name]: value }),
            as,
            body: body && JSON.stringify(body),
            status: name in textRules ? 400 : 404,
            says: textRules[name] ?? 'no such',
          } satisfies Broken
        }),
    ),
  )
}

describe('an id in a path', () => {
  test('of another tenant’s object is answered with 404, for every kind of object', async () => {
    const all = withParams('another tenant’s', (name) =>
      freeParams.includes(name) ? [] : [other.params[name] as string],
    )
    expect(all.length).toBeGreaterThan(60)
    await expectRefused(world, all)
  })

  test('of another organization is answered with 404, even if all ids in the path belong to that organization', async () => {
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

  test('that names nothing or is malformed is answered with 404', async () => {
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

  test('of a grant or a group that the environment does not have is answered with 404', async () => {
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

test('free text in a path is refused with 400 if it contains a NUL, and the error names the parameter', async () => {
  const wrong = ['a%00', '%00', 'a%00b']
  const free = withParams('spoilt', (name) => (name === 'userRef' ? wrong : []))
  expect(free).toHaveLength(wrong.length)
  const onPlatform = wrong.map((userRef) => ({
    title: `${titleOf(vaultPlatform.eraseUser)}: userRef is spoilt (${userRef})`,
    method: 'DELETE',
    path: pathOf(vaultPlatform.eraseUser, { userRef }),
    as: own.vault.platform.as,
    status: 400 as const,
    says: textRules.userRef as string,
  }))
  await expectRefused(world, [...free, ...onPlatform])
})

test('a version in a path that is no number, or that contains a NUL, is answered with 404', async () => {
  const wrong = ['1%00', '%00', '0', '-1', '1.5', 'a', '1'.repeat(40)]
  const versions = withParams('no version', (name) => (name === 'version' ? wrong : []))
  expect(versions).toHaveLength(wrong.length)
  await expectRefused(world, versions)
})

describe('a secret’s name in a path', () => {
  test('that is not valid is refused, and the error states the rule for names', async () => {
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

  test('may have 255 characters, and may be a name with a meaning in JavaScript, such as __proto__', async () => {
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

  test('of another tenant’s group or environment is answered with 404', async () => {
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

  test('that names no principal of this organization and of this type gets no key grant', async () => {
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

  test('of a token that another tenant registered is refused with the same error as one of the own tenant', async () => {
    const { body } = samples[titleOf(tokens.create)] as Sample
    const says = 'body.tokenId: is already registered'
    await expectRefused(world, [
      refused('theirs', tokens.create, { ...body, tokenId: other.params.tokenId }, 409, says),
      refused('own', tokens.create, { ...body, tokenId: own.params.tokenId }, 409, says),
    ])
  })

  test('or a name that exists already is refused with 409', async () => {
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
