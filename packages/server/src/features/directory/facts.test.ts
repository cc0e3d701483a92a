import { branches } from '@skerry/contract/branches/endpoints'
import { directory } from '@skerry/contract/directory/endpoints'
import type { Claim } from '@skerry/contract/directory/schemas'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { kms } from '@skerry/contract/kms/endpoints'
import { fingerprint } from '@skerry/crypto/digest'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { Static } from 'typebox'
import { beforeAll, describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import {
  anyKid,
  type Chain,
  claimsOf,
  entryOf,
  nowOf,
  putDirectory,
  signEntries,
  startDirectory,
} from '../../../test/directory-steps.ts'
import { encryptKey, newKmsKey, signKey } from '../../../test/kms-steps.ts'
import { generatedRotation, newKeyedEnv, newRotation } from '../../../test/rotation-steps.ts'
import { openSync } from '../../../test/scene.ts'
import { stateOf, stopSchedules } from '../../../test/state.ts'
import { connect } from '../../../test/sync-scene.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newDecoy,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newToken,
} from '../../../test/tenant.ts'

const { world, tenant, platform } = await openSync()
const { orgId, admin } = tenant
await stopSchedules(world)
const app = await newApp(world, tenant, 'shop')
const env = await newEnv(world, tenant, app.id)
const shared = await newGroup(world, tenant, 'shared')
const base = await newGroup(world, tenant, 'base')
for (const { id } of [shared, base]) {
  await newGroupEnv(world, tenant, id)
  await newGroupEnv(world, tenant, id, 'staging')
  const params = { orgId, envId: env.id }
  await world.call(composition.set, { as: admin.as, params, body: { groupId: id } })
}
const person = await newMember(world, tenant)
const keyless = await newMember(world, tenant, 'member', { keys: false })
await grantKey(world, tenant, env.id, person)
const body = { slug: 'fix', wrappedDek: wrappedKey() }
const branch = (await world.call(branches.create, { as: admin.as, params: { orgId, envId: env.id }, body })).body.branch
const bound = await newToken(world, tenant, { environmentId: branch.id })
await newDecoy(world, tenant)
const signs = await newKmsKey(world, tenant, signKey([admin]))
const encrypts = await newKmsKey(world, tenant, encryptKey([admin, person], { name: 'invoices' }))
await newKmsKey(world, tenant, encryptKey([admin], { name: 'Not a slug' }))
const rotated = await newKeyedEnv(world, tenant)
await newRotation(world, tenant, await generatedRotation(world, tenant, rotated))
const connection = await connect(world, tenant, platform)

type Fact = Static<typeof Claim>
const claim = async (key: string): Promise<Fact> => (await claimsOf(world, tenant, key))[0]!
const kidOf = async (key: string) => (await claim(key)).value!.kid as string

describe('the claims of a server', () => {
  test('are about every object that has an entry, in the order of keys', async () => {
    const keys = (await claimsOf(world, tenant)).map(({ key }) => key)
    expect(keys).toEqual(keys.toSorted())
    const named = keys.filter((key) => !/^(?:token|environment\/app-)/.test(key))
    expect(named).toEqual(
      [
        ...['environment/base:production', 'environment/base:staging', 'environment/shared:production'],
        ...['environment/shared:staging', 'environment/shop/production', 'key/invoices', 'key/releases'],
        ...[`person/${person.id}`, `worker/${orgId}`, `worker/${connection.id}`],
      ].toSorted(),
    )
    expect(keys.filter((key) => key.startsWith('token/'))).toHaveLength(3)
    expect(keys).not.toContain(`person/${keyless.id}`)
  })

  test('come in pages, and for the keys that are asked for', async () => {
    const whole = await claimsOf(world, tenant)
    const paged: Fact[] = []
    let cursor: string | null = null
    do {
      const query: Record<string, unknown> = { limit: 3, ...(cursor === null ? {} : { cursor }) }
      const page: { claims: Fact[]; nextCursor: string | null } = (
        await world.call(directory.claims, { as: admin.as, params: { orgId }, query })
      ).body
      expect(page.claims.length).toBeLessThanOrEqual(3)
      paged.push(...page.claims)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(paged).toEqual(whole)
    const missing = 'environment/shop/nowhere'
    expect(await claimsOf(world, tenant, missing, whole[0]!.key)).toEqual([
      { key: missing, value: null, readers: null, signedReaders: null },
      whole[0],
    ])
  })

  test('name who reads an environment, its layers, and who holds the current version of a managed key', async () => {
    const readers = async (...actors: Actor[]) =>
      Promise.all(
        actors
          .map(({ id }) => (id.startsWith('usr_') ? `person/${id}` : `token/${id}`))
          .toSorted()
          .map(async (key) => [key, await kidOf(key)]),
      )
    expect(await claim('environment/shop/production')).toEqual({
      key: 'environment/shop/production',
      value: { id: env.id, layers: ['shared:production', 'base:production'] },
      readers: await readers(admin, person),
      signedReaders: null,
    })
    expect((await claim('environment/shared:production')).value).toMatchObject({ layers: [] })
    const params = { orgId, kmsKeyId: encrypts.id }
    const grants = encryptKey([admin]).grants
    expect((await world.call(kms.rotate, { as: admin.as, params, body: { grants } })).status).toBe(200)
    expect(await claim('key/invoices')).toEqual({
      key: 'key/invoices',
      value: { id: encrypts.id, versions: [{ version: 1 }, { version: 2 }] },
      readers: await readers(admin),
      signedReaders: null,
    })
    const jwk = expect.objectContaining({ crv: 'P-256', kty: 'EC' })
    expect((await claim('key/releases')).value).toEqual({ id: signs.id, versions: [{ version: 1, jwk }] })
  })

  test('name the key of each holder, and the parent of a branch that a token is bound to', async () => {
    const { db } = world.server.context
    const stored = await db.row<{ email: string; publicKeyJwk: string }>(
      'select email, public_key_jwk from users where id = $1',
      [person.id],
    )
    expect((await claim(`person/${person.id}`)).value).toEqual({
      email: stored!.email,
      kid: await fingerprint(stored!.publicKeyJwk),
    })
    expect((await claim(`token/${bound.id}`)).value).toMatchObject({ environment: 'shop/production', name: 'a token' })
    expect((await claim(`token/${admin.id}`)).value).toMatchObject({ environment: null })
    expect((await claim(`worker/${orgId}`)).value).toMatchObject({ heldBy: 'server' })
    const decoys = (await claimsOf(world, tenant)).filter(({ key, value }) => /^token/.test(key) && !value?.kid)
    expect(decoys).toHaveLength(1)
  })
})

describe('an entry', () => {
  let chain: Chain
  let signer: Awaited<ReturnType<typeof startDirectory>>['signer']
  beforeAll(async () => {
    ;({ chain, signer } = await startDirectory(world, tenant))
  })

  const signed = async (changes: Parameters<typeof signEntries>[1]) =>
    signEntries(chain, changes, { signer, now: nowOf(world) })

  const cases: [key: string, member: string, change: object][] = [
    [`person/${person.id}`, 'email', { email: 'other@example.com' }],
    [`person/${person.id}`, 'kid', { kid: anyKid }],
    [`token/${bound.id}`, 'name', { name: 'another' }],
    [`token/${bound.id}`, 'environment', { environment: null }],
    [`token/${bound.id}`, 'kid', { kid: anyKid }],
    [`worker/${orgId}`, 'kid', { kid: anyKid }],
    [`worker/${connection.id}`, 'heldBy', { heldBy: 'customer' }],
    ['environment/shop/production', 'id', { id: branch.id }],
    ['environment/shop/production', 'layers', { layers: ['base:production', 'shared:production'] }],
    ['environment/shop/production', 'layers', { layers: [] }],
    ['environment/shop/production', 'readers', { readers: anyKid }],
    ['key/invoices', 'id', { id: signs.id }],
    ['key/invoices', 'readers', { readers: anyKid }],
    ['key/invoices', 'versions', { versions: [{ version: 1, commitment: anyKid }] }],
    ['key/releases', 'versions', { versions: [{ version: 1, commitment: anyKid }] }],
  ]
  test.each(cases)('%s is refused with another %s, and nothing is stored', async (key, member, change) => {
    const entry = chain.entries.get(key) as DirectoryEntry
    const { trust } = await signed({ [key]: { ...entry, value: { ...entry.value, ...change } } as DirectoryEntry })
    const before = await stateOf(world)
    const { status, error } = await putDirectory(world, tenant, trust)
    expect([status, error?.message]).toEqual([
      409,
      `body.entries: ${key}: ${member} is not what the server has: read the claims and sign again`,
    ])
    expect(await stateOf(world)).toEqual(before)
  })

  test('may have any commitment, and a decoy any name and key, because the server knows none of them', async () => {
    const environment = chain.entries.get('environment/shop/production') as DirectoryEntry
    const decoy = [...chain.entries.values()].find(
      ({ key, value }) => key.startsWith('token/') && (value as { kid: string }).kid === anyKid,
    ) as DirectoryEntry
    const kid = await fingerprint(signKey([]).publicKeyJwk)
    const { trust, after } = await signed({
      [environment.key]: { ...environment, value: { ...environment.value, key: anyKid } } as DirectoryEntry,
      [decoy.key]: { ...decoy, value: { ...decoy.value, name: 'deploys', kid } } as DirectoryEntry,
    })
    expect((await putDirectory(world, tenant, trust)).status).toBe(200)
    chain = after
  })

  test('cannot begin without its object, nor end while the object exists', async () => {
    for (const [changes, says] of [
      [{ [`person/${person.id}`]: null }, `person/${person.id}: it exists, so its entry cannot end`],
      [
        {
          'environment/shop/gone': await entryOf({
            ...(await claim('environment/shop/production')),
            key: 'environment/shop/gone',
          }),
        },
        'environment/shop/gone: nothing here has such an entry',
      ],
    ] as const) {
      const { trust } = await signed(changes)
      const { status, error } = await putDirectory(world, tenant, trust)
      expect([status, error?.message]).toEqual([409, `body.entries: ${says}`])
    }
  })

  test('shows the list behind the hash of its readers, also after the readers have changed', async () => {
    const key = 'environment/shop/production'
    const before = await claim(key)
    expect(before.signedReaders).toEqual(before.readers)
    const joined = await newMember(world, tenant)
    const { id: grantId } = await grantKey(world, tenant, env.id, joined)
    const changed = await claim(key)
    expect([changed.readers!.length, changed.signedReaders]).toEqual([3, before.readers])
    const { trust, after } = await signed({ [key]: await entryOf(changed) })
    expect((await putDirectory(world, tenant, trust)).status).toBe(200)
    chain = after
    await world.call(grants.delete, { as: admin.as, params: { orgId, envId: env.id, grantId } })
    expect(await claim(key)).toEqual({ ...changed, readers: before.readers, signedReaders: changed.readers })
  })

  test('is proven to its token, and not to others, who see roots and heads', async () => {
    const keys = [...chain.entries.keys()]
    const proofsFor = async ({ as }: Actor) => {
      const { body } = await world.call(directory.get, { as, params: { orgId }, query: { key: keys } })
      expect([body.directory!.roots.length, body.directory!.heads.length]).toEqual([1, 1])
      return body.directory!.proofs.map(({ entry }) => JSON.parse(entry)[0]).toSorted()
    }
    expect(await proofsFor(admin)).toEqual(keys.toSorted())
    expect(await proofsFor(person)).toEqual(keys.toSorted())
    expect(await proofsFor(bound)).toEqual(['environment/shop/production', `token/${bound.id}`])
    const reader = await newToken(world, tenant)
    expect(await proofsFor(reader)).toEqual([])
    const shared = (await claim('environment/shared:production')).value as { id: string }
    await grantKey(world, tenant, shared.id, reader)
    expect(await proofsFor(reader)).toEqual(['environment/shared:production'])
    for (const endpoint of [directory.entries, directory.claims])
      for (const { as } of [bound, reader, person, tenant.machine])
        expect((await world.call(endpoint, { as, params: { orgId } })).status).toBe(403)
  })
})
