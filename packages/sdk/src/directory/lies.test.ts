import { DirectoryError } from '@skerry/crypto/directory/refusal'
import { newId } from '@skerry/crypto/random'
import { describe, expect, test } from 'vitest'
import {
  type DirectoryWorld,
  day,
  directoryWorld,
  name,
  openSigned,
  refusal,
  showDirectory,
  start,
  worker,
} from '../../test/directory-world.ts'
import { app, branchBody, ids, layer } from '../../test/world.ts'

const lies: [what: string, code: string, lie: (world: DirectoryWorld) => void | Promise<void>][] = [
  [
    'no directory',
    'directory_missing',
    (world) => {
      world.isSilent = true
    },
  ],
  [
    'an answer that ignores the question',
    'directory_missing',
    (world) => {
      world.answer = () => ({ json: world.body })
    },
  ],
  [
    'another id',
    'directory_mismatch',
    async (world) => {
      const envId = newId('environment')
      const { publicKeyJwk } = world.reader
      world.body.scope.envId = envId
      world.body.layers[1] = await layer({ ...app, environmentId: envId }, { LEVEL: 'evil' }, publicKeyJwk)
    },
  ],
  [
    'another key',
    'directory_mismatch',
    async (world) => {
      world.body.layers[1] = await layer(app, { LEVEL: 'evil' }, world.reader.publicKeyJwk)
    },
  ],
  [
    'another key of a group',
    'directory_mismatch',
    async (world) => {
      const { wrappedDek: _, secrets: __, ...place } = world.body.layers[0]!
      world.body.layers[0] = await layer(place, { HOST: 'evil' }, world.reader.publicKeyJwk)
    },
  ],
  [
    'another id of a group',
    'directory_mismatch',
    async (world) => {
      const { wrappedDek: _, secrets: __, ...place } = world.body.layers[0]!
      const other = { ...place, environmentId: newId('environment') }
      world.body.layers[0] = await layer(other, { HOST: 'evil' }, world.reader.publicKeyJwk)
    },
  ],
  ['a missing layer', 'directory_mismatch', (world) => void world.body.layers.shift()],
  [
    'another application’s name',
    'directory_mismatch',
    (world) => {
      world.body.scope.appSlug = 'other'
    },
  ],
  [
    'a branch that nobody asked for',
    'directory_mismatch',
    async (world) => void Object.assign(world.body, await branchBody(world.reader.publicKeyJwk)),
  ],
  [
    'another organization',
    'directory_mismatch',
    (world) => {
      world.body.scope.orgId = newId('organization')
    },
  ],
  [
    'the proof of another name',
    'directory_unproven',
    (world) => {
      world.lie = (shown) => {
        const [own, group] = shown.proofs as [(typeof shown.proofs)[0], (typeof shown.proofs)[0]]
        const entry = group.entry.replace('environment/shared:production', `environment/${name}`)
        return {
          ...shown,
          proofs: [
            { ...group, entry },
            { ...own, entry },
          ],
        }
      }
    },
  ],
  [
    'no proof of the environment',
    'directory_unproven',
    (world) => {
      world.lie = (shown) => ({ ...shown, proofs: shown.proofs.slice(1) })
    },
  ],
  [
    'no proof of a group',
    'directory_unproven',
    (world) => {
      world.lie = (shown) => ({ ...shown, proofs: shown.proofs.slice(0, 1) })
    },
  ],
  [
    'the proof of another head',
    'directory_unproven',
    async (world) => {
      const other = await openSigned([...world.entries, { key: `worker/${ids.orgId}`, value: worker }])
      world.lie = (shown) => ({ ...shown, proofs: showDirectory(other, { keys: [`environment/${name}`] }).proofs })
    },
  ],
  [
    'the directory of another signer',
    'directory_unpinned',
    async (world) => {
      const forged = await openSigned(world.entries)
      world.lie = () => showDirectory(forged, { keys: world.entries.map(({ key }) => key) })
    },
  ],
  [
    'a head that nobody signed',
    'directory_unsigned',
    async (world) => {
      const forged = await openSigned(world.entries)
      const { document, tree } = world.signed.heads[0]!
      const [prefix, body] = world.signed.heads[0]!.text.split('.')
      const signatures = forged.heads[0]!.text.split('.')[2]
      expect(document.body.count).toBe(tree.count)
      world.lie = (shown) => ({ ...shown, heads: [[prefix, body, signatures].join('.')] })
    },
  ],
  [
    'no roots',
    'directory_malformed',
    (world) => {
      world.lie = (shown) => ({ ...shown, roots: [] })
    },
  ],
  [
    'no heads',
    'directory_malformed',
    (world) => {
      world.lie = (shown) => ({ ...shown, heads: [] })
    },
  ],
  [
    'garbage',
    'malformed_answer',
    (world) => {
      world.lie = () => 'garbage'
    },
  ],
  [
    'a list of numbers',
    'malformed_answer',
    (world) => {
      world.lie = (shown) => ({ ...shown, roots: [1, null] })
    },
  ],
  [
    'texts that are no documents',
    'directory_malformed',
    (world) => {
      world.lie = (shown) => ({ ...shown, roots: ['or1.e30.W10'] })
    },
  ],
  [
    'an old head',
    'directory_stale',
    (world) => {
      world.clock.ms = (start + 31 * day) * 1000
    },
  ],
  [
    'a head from the future',
    'directory_from_future',
    (world) => {
      world.clock.ms = (start - 601) * 1000
    },
  ],
]

describe('a client with a pin refuses', () => {
  test.each(lies)('%s', async (_, code, lie) => {
    const world = await directoryWorld()
    await lie(world)
    expect(await refusal(world)).toMatchObject({ code })
  })

  test('an answer, and says what it expected, what came, and who could have signed it', async () => {
    const world = await directoryWorld()
    const listed = world.body.layers.shift()!
    const error = await refusal(world)
    expect(error).toBeInstanceOf(DirectoryError)
    expect(error).toMatchObject({
      expected: `${name} with ${listed.groupSlug}:${listed.slug}`,
      came: 'no group',
      signers: [world.signed.person],
    })
    expect(error.message).toContain(world.signed.person)
  })
})
