import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { newId } from '@skerry/crypto/random'
import { unwrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { type DirectoryWorld, directoryWorld, openPinned, refusal, worker } from '../../test/directory-world.ts'
import { layer } from '../../test/world.ts'

describe('the layers of an answer', () => {
  const added = async (world: DirectoryWorld) => {
    const place = {
      source: 'group',
      environmentId: newId('environment'),
      slug: 'production',
      groupSlug: 'evil',
    } as const
    world.body.layers.unshift(await layer(place, { HOST: 'evil', ADDED: 'evil' }, world.reader.publicKeyJwk))
  }

  test('leave out a layer that is not listed, with a warning', async () => {
    const world = await directoryWorld()
    await added(world)
    const warnings: string[] = []
    const { values } = await openPinned(world, { warn: (message) => void warnings.push(message) }).resolve()
    expect(values).toEqual({ HOST: 'db', LEVEL: 'debug', URL: 'postgres://db' })
    expect(warnings).toEqual([expect.stringContaining('evil:production')])
  })

  test('are refused with a layer that is not listed, if the client is strict', async () => {
    const world = await directoryWorld()
    await added(world)
    const error = await refusal(world, { directory: { strict: true } })
    expect(error).toMatchObject({ code: 'directory_mismatch', came: 'evil:production, shared:production' })
  })

  test('must be in the listed order', async () => {
    const world = await directoryWorld()
    await added(world)
    const evil = world.body.layers[0]!
    const key = await environmentKeyCommitment(
      evil.environmentId,
      await unwrapKey(evil.wrappedDek, world.reader.privateKey),
    )
    const [own, ...others] = world.entries as [DirectoryWorld['entries'][0], ...DirectoryWorld['entries']]
    const group = { id: evil.environmentId, key, layers: [], readers: worker.kid }
    const listing = (layers: string[]) => ({ ...own, value: { ...own.value, layers } }) as typeof own
    const evilEntry = { key: 'environment/evil:production', value: group } as const
    await world.signed.sign([listing(['evil:production', 'shared:production']), ...others, evilEntry])
    expect((await openPinned(world).resolve()).values.ADDED).toBe('evil')
    await world.signed.sign([listing(['shared:production', 'evil:production']), ...others, evilEntry])
    expect(await refusal(world)).toMatchObject({ code: 'directory_mismatch' })
  })

  test('contain another environment of a listed group only if it was asked for and is signed', async () => {
    const world = await directoryWorld()
    const { publicKeyJwk, privateKey } = world.reader
    const place = {
      source: 'group',
      environmentId: newId('environment'),
      slug: 'staging',
      groupSlug: 'shared',
    } as const
    const staging = await layer(place, { HOST: 'staging' }, publicKeyJwk)
    world.body.layers[0] = staging
    expect(await refusal(world)).toMatchObject({ code: 'directory_mismatch' })
    expect(await refusal(world, { with: ['shared:staging'] })).toMatchObject({ code: 'directory_unproven' })
    const key = await environmentKeyCommitment(place.environmentId, await unwrapKey(staging.wrappedDek, privateKey))
    const value = { id: place.environmentId, key, layers: [], readers: worker.kid }
    await world.signed.sign([...world.entries, { key: 'environment/shared:staging', value }])
    const { values } = await openPinned(world, { with: ['shared:staging'] }).resolve()
    expect(values.HOST).toBe('staging')
  })
})
