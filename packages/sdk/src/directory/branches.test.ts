import { encodeUtf8 } from '@skerry/crypto/base64url'
import { makeBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { unwrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { day, directoryWorld, name, openPinned, refusal, start, worker } from '../../test/directory-world.ts'
import { branch, ids, layer } from '../../test/world.ts'

describe('a branch', () => {
  const withBranch = async (
    manifest?: (parentKey: Uint8Array<ArrayBuffer>, key: string) => Promise<string> | string,
  ) => {
    const world = await directoryWorld()
    const { publicKeyJwk, privateKey } = world.reader
    const one = await layer(branch, { LEVEL: 'trace' }, publicKeyJwk)
    const key = await environmentKeyCommitment(ids.branchId, await unwrapKey(one.wrappedDek, privateKey))
    const parentKey = await unwrapKey(world.body.layers[1]!.wrappedDek, privateKey)
    const text = await manifest?.(parentKey, key)
    world.body.layers.push({ ...one, ...(text === undefined ? {} : { manifest: text }) })
    Object.assign(world.body.scope, { envId: ids.branchId, envSlug: 'pr-7', branchOf: ids.envId })
    return world
  }
  const facts = (key: string) => ({
    id: ids.branchId,
    parent: ids.envId,
    name: 'pr-7',
    key,
    expiresAt: start + 2 * day,
  })

  test('is used with a manifest under the key of its parent', async () => {
    const world = await withBranch((parentKey, key) => makeBranchManifest(parentKey, facts(key)))
    const { values } = await openPinned(world, { branch: 'pr-7', directory: { strict: true } }).resolve()
    expect(values.LEVEL).toBe('trace')
    expect((await openPinned(world, { branch: ids.branchId }).resolve()).values.LEVEL).toBe('trace')
  })

  test('is refused if it expired, and with a manifest of another key or another branch', async () => {
    const expired = await withBranch((parentKey, key) => makeBranchManifest(parentKey, facts(key)))
    expired.clock.ms = (start + 3 * day) * 1000
    expect(await refusal(expired, { branch: 'pr-7' })).toMatchObject({ code: 'authentic_expired' })
    const rekeyed = await withBranch((parentKey) => makeBranchManifest(parentKey, facts(worker.kid)))
    expect(await refusal(rekeyed, { branch: 'pr-7' })).toMatchObject({ code: 'directory_mismatch' })
    const other = await withBranch((parentKey, key) => makeBranchManifest(parentKey, { ...facts(key), name: 'pr-8' }))
    expect(await refusal(other, { branch: 'pr-7' })).toMatchObject({ code: 'not_authentic' })
    const forged = await withBranch((_, key) => makeBranchManifest(encodeUtf8('x'.repeat(32)), facts(key)))
    expect(await refusal(forged, { branch: 'pr-7' })).toMatchObject({ code: 'not_authentic' })
  })

  test('without a manifest is refused', async () => {
    const world = await withBranch()
    expect(await refusal(world, { branch: 'pr-7' })).toMatchObject({ code: 'directory_mismatch', came: 'none' })
  })

  test('with another name than the command gave is refused', async () => {
    const world = await withBranch((parentKey, key) => makeBranchManifest(parentKey, facts(key)))
    const settings = { branch: ids.branchId, directory: { name: `${name}@pr-8` } }
    expect(await refusal(world, settings)).toMatchObject({ code: 'directory_mismatch', expected: 'the branch pr-8' })
  })
})
