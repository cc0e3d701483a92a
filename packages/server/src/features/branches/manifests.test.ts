import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { makeBranchManifest, openBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { keyBytes } from '../../../test/directory-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { newEnv } from '../../../test/tenant.ts'
import { newId } from '../../kernel/context.ts'

const { world, tenant, appId, envId } = await openEnv()
const { orgId, admin } = tenant
const params = { orgId, envId }

const manifestOf = async (id: string, name: string) =>
  makeBranchManifest(keyBytes, {
    id,
    parent: envId,
    name,
    key: await environmentKeyCommitment(id, keyBytes),
    expiresAt: null,
  })
const fork = (slug: string, more: object = {}) =>
  world.call(branches.create, { as: admin.as, params, body: { slug, wrappedDek: wrappedKey(), ...more } })
const listed = async () =>
  Object.fromEntries(
    (await world.call(branches.list, { as: admin.as, params })).body.branches.map(({ slug, manifest }) => [
      slug,
      manifest,
    ]),
  )
const replaceKey = (id: string, more: object = {}) =>
  world.call(rekey.run, {
    as: admin.as,
    params: { orgId, envId: id },
    body: {
      expectedVersions: {},
      secrets: [],
      grants: [{ principalType: 'service_token', principalId: admin.id, wrappedDek: wrappedKey() }],
      ...more,
    },
  })

describe('the manifest of a branch', () => {
  const id = newId('environment')

  test('is stored with the branch, whose id the client has chosen, and shown by lists and by resolve with proof', async () => {
    const manifest = await manifestOf(id, 'fix')
    const { status, body } = await fork('fix', { id, manifest })
    expect([status, body.branch.id]).toEqual([201, id])
    await fork('plain')
    expect(await listed()).toEqual({ fix: manifest, plain: null })
    const ofApp = await world.call(apps.branches, { as: admin.as, params: { orgId, appId } })
    expect(ofApp.body.branches.map((branch) => branch.manifest)).toEqual([manifest, null])
    const ask = async (query: object) =>
      (await world.call(resolve.get, { as: admin.as, query: { env: envId, branch: 'fix', ...query } })).body.layers.at(
        -1,
      )!
    expect(await ask({})).not.toHaveProperty('manifest')
    const shown = (await ask({ proof: '1' })).manifest as string
    expect((await openBranchManifest(keyBytes, shown, { parent: envId, name: 'fix' }, 0)).id).toBe(id)
  })

  test('needs an id that no environment has', async () => {
    const before = await listed()
    for (const taken of [id, envId]) {
      const { status, error } = await fork('other', { id: taken })
      expect([status, error?.message]).toEqual([409, 'body.id: another environment has it'])
    }
    expect((await fork('fix', { id: newId('environment') })).error?.message).toBe(
      'body.slug: another environment uses it',
    )
    expect((await fork('other', { manifest: `bm1.${'A'.repeat(8200)}.A` })).status).toBe(400)
    expect(await listed()).toEqual(before)
  })

  test('is renewed by a re-key of the parent, and dropped if the re-key does not name it', async () => {
    const stranger = await newEnv(world, tenant, appId, 'staging')
    const manifest = await manifestOf(id, 'fix')
    const before = await listed()
    for (const [manifests, status] of [
      [[{ environmentId: stranger.id, manifest }], 409],
      [[{ environmentId: envId, manifest }], 409],
      [Array.from({ length: 2 }, () => ({ environmentId: id, manifest })), 400],
    ] as const)
      expect((await replaceKey(envId, { manifests })).status).toBe(status)
    expect(await listed()).toEqual(before)
    expect((await replaceKey(envId, { manifests: [{ environmentId: id, manifest }] })).status).toBe(200)
    expect(await listed()).toEqual({ fix: manifest, plain: null })
    expect((await replaceKey(id, { manifests: [{ environmentId: id, manifest }] })).status).toBe(200)
    expect(await listed()).toEqual({ fix: manifest, plain: null })
    expect((await replaceKey(envId)).status).toBe(200)
    expect(await listed()).toEqual({ fix: null, plain: null })
  })
})
