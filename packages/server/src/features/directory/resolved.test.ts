import { branches } from '@skerry/contract/branches/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { parsePin } from '@skerry/crypto/directory/pin'
import { verifyDirectoryEntry } from '@skerry/crypto/directory/verify'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { keyBytes, nowOf, putDirectory, signEntries, startDirectory } from '../../../test/directory-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { grantKey, newApp, newEnv, newGroup, newGroupEnv, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant, envId } = await openEnv()
const { orgId, admin } = tenant
const group = await newGroup(world, tenant, 'shared')
await newGroupEnv(world, tenant, group.id)
await newGroupEnv(world, tenant, group.id, 'staging')
await world.call(composition.set, { as: admin.as, params: { orgId, envId }, body: { groupId: group.id } })

const ask = (query: object, { as = admin.as, ...headers }: Record<string, string> = {}) =>
  world.call(resolve.get, { as, query: { env: envId, ...query }, headers })
const plain = await ask({})
const withoutDirectory = await ask({ proof: '1' })
const started = await startDirectory(world, tenant)
let { chain } = started
const { signer } = started
const name = [...chain.entries.keys()].find((key) => key.endsWith('/production')) as 'environment/app/production'
const keysOf = (proofs: readonly { entry: string }[]) => proofs.map(({ entry }) => JSON.parse(entry)[0])

describe('resolve with proof', () => {
  test('answers null without a directory, and without proof has no such member', async () => {
    expect(withoutDirectory.body.directory).toBeNull()
    expect(plain.body).not.toHaveProperty('directory')
    expect((await ask({})).body).toEqual(plain.body)
  })

  test('shows the environment and each layer, which a client with a pin verifies', async () => {
    const { scope, layers, directory } = (await ask({ proof: '1' })).body
    expect(keysOf(directory!.proofs)).toEqual(['environment/shared:production', name])
    const pins = [parsePin(chain.root.hash)]
    const trust = { pins, known: null, now: nowOf(world), purpose: 'read' } as const
    const { roots, heads, proofs } = directory!
    const { entry } = await verifyDirectoryEntry({ roots, heads, proof: proofs[1]! }, name, trust)
    expect(entry.value).toMatchObject({
      id: scope.envId,
      layers: layers.flatMap(({ source, groupSlug, slug }) => (source === 'group' ? `${groupSlug}:${slug}` : [])),
      key: await environmentKeyCommitment(envId, keyBytes),
    })
  })

  test('shows the slice of a group that the caller asks for, and nothing about a branch', async () => {
    const { directory } = (await ask({ proof: '1', with: 'shared:staging' })).body
    expect(keysOf(directory!.proofs)).toEqual(['environment/shared:staging', name])
    const body = { slug: 'fix', wrappedDek: wrappedKey() }
    await world.call(branches.create, { as: admin.as, params: { orgId, envId }, body })
    const branched = (await ask({ proof: '1', branch: 'fix' })).body
    expect(keysOf(branched.directory!.proofs)).toEqual(['environment/shared:production', name])
  })

  test('is cached, and a new head makes another answer', async () => {
    const first = await ask({ proof: '1' })
    const tag = first.headers.get('etag') as string
    expect((await ask({ proof: '1' }, { 'if-none-match': tag })).status).toBe(304)
    const { trust, after } = await signEntries(chain, {}, { signer, now: nowOf(world) })
    expect((await putDirectory(world, tenant, trust)).status).toBe(200)
    chain = after
    const next = await ask({ proof: '1' }, { 'if-none-match': tag })
    expect([next.status, next.body.directory!.heads]).toEqual([200, [trust.head]])
    expect((await ask({ proof: '1', head: 1, root: chain.root.hash })).body.directory!.heads).toEqual([trust.head])
  })

  test('shows a token its own environment alone, and another organization nothing', async () => {
    const token = await newToken(world, tenant, { environmentId: envId })
    await grantKey(world, tenant, envId, token)
    expect((await ask({ proof: '1' }, { as: token.as })).status).toBe(403)
    const alone = await newEnv(world, tenant, (await newApp(world, tenant, 'alone')).id)
    const bound = await newToken(world, tenant, { environmentId: alone.id })
    await grantKey(world, tenant, alone.id, bound)
    const { directory } = (await ask({ proof: '1', env: alone.id }, { as: bound.as })).body
    // Nobody has signed the new environment.
    expect(directory!.proofs).toEqual([])
    const other = await signUp(world)
    expect((await ask({ proof: '1' }, { as: other.admin.as })).status).toBe(404)
  })
})
