import { mergeLayers } from '@skerry/crypto/layers'
import { expandReferences } from '@skerry/crypto/references'
import { newToken, parseToken } from '@skerry/crypto/token'
import { describe, expect, test } from 'vitest'
import published from '../../crypto/vectors/published.json' with { type: 'json' }
import { app, branchBody, type Draft, layer, resolveBody, scope, shared } from '../test/world.ts'
import { decryptLayers } from './resolve.ts'
import { parseResolveBody, type ResolveBody } from './resolve-body.ts'

const { publicKeyJwk, privateKey } = await newToken('skerry')
const failure = (layerSlug: string, secret?: string) =>
  expect.objectContaining({ name: 'DecryptionError', code: 'decryption_failed', layer: layerSlug, secret })

/** A copy of an honest body with one change. */
async function tampered(change: (body: Draft<ResolveBody>) => void): Promise<ResolveBody> {
  const body = structuredClone(await resolveBody(publicKeyJwk))
  change(body)
  return body
}

test('values that the published clients wrote resolve to what those clients read', async () => {
  const { token, layers, merged, expanded, unresolved } = published
  const places = [
    { source: 'group', slug: 'production', groupSlug: 'shared' },
    { source: 'app', slug: 'production' },
  ] as const
  const body = parseResolveBody(
    JSON.stringify({
      scope: { ...scope, envId: layers[1]!.environmentId },
      layers: layers.map(({ environmentId, wrappedDek, secrets }, i) => ({
        ...places[i],
        environmentId,
        wrappedDek,
        secrets: secrets.map(({ name, ciphertext }) => ({ name, ciphertext })),
      })),
    }),
    { with: [] },
  )
  const { privateKey } = await parseToken(token.token)
  const { values } = mergeLayers(await decryptLayers(body, privateKey))
  expect({ ...values }).toEqual(merged)
  expect(expandReferences(values)).toEqual({ values: expanded, unresolved })
})

describe('decryption', () => {
  test('decrypts every layer', async () => {
    const layers = await decryptLayers(await resolveBody(publicKeyJwk), privateKey)
    expect(layers.map(({ values }) => ({ ...values }))).toEqual([
      { HOST: 'db', LEVEL: 'info' },
      { LEVEL: 'debug', URL: `postgres://\${HOST}` },
    ])
    expect(layers[0]).toMatchObject(shared)
    expect(layers[1]).toMatchObject(app)
  })

  test.each<[string, (body: Draft<ResolveBody>) => void, ReturnType<typeof failure>]>([
    [
      'two ciphertexts swapped between names',
      ({ layers: [, own] }) => {
        const [one, two] = own!.secrets
        ;[one!.ciphertext, two!.ciphertext] = [two!.ciphertext, one!.ciphertext]
      },
      failure('production', 'LEVEL'),
    ],
    [
      'a ciphertext from another environment with its key',
      ({ layers: [group, own] }) => {
        own!.wrappedDek = group!.wrappedDek
        own!.secrets = [group!.secrets[1]!]
      },
      failure('production', 'LEVEL'),
    ],
    [
      'a ciphertext under another name',
      ({ layers: [, own] }) => {
        own!.secrets[0]!.name = 'RENAMED'
      },
      failure('production', 'RENAMED'),
    ],
    [
      'a value under another layer’s key',
      ({ layers: [group, own] }) => {
        own!.wrappedDek = group!.wrappedDek
      },
      failure('production', 'LEVEL'),
    ],
    [
      'a malformed wrapped key',
      ({ layers: [, own] }) => {
        own!.wrappedDek = 'wd1.AA.AA.AA.AA'
      },
      failure('production'),
    ],
    [
      'a malformed ciphertext',
      ({ layers: [, own] }) => {
        own!.secrets[1]!.ciphertext = 'plaintext'
      },
      failure('production', 'URL'),
    ],
  ])('refuses the whole answer for %s, and names the layer or the secret', async (_, change, expected) => {
    await expect(decryptLayers(await tampered(change), privateKey)).rejects.toEqual(expected)
  })

  test('refuses a key that was wrapped to somebody else', async () => {
    const stranger = await newToken('skerry')
    const body = await resolveBody(stranger.publicKeyJwk)
    await expect(decryptLayers(body, privateKey)).rejects.toEqual(failure('production'))
  })

  test('never puts a value or a ciphertext into its error', async () => {
    const body = await tampered(({ layers: [, own] }) => {
      own!.secrets[0]!.ciphertext = own!.secrets[1]!.ciphertext
    })
    const error = (await decryptLayers(body, privateKey).catch((thrown: unknown) => thrown)) as Error
    expect(error.message).toBe('production cannot be decrypted: secret LEVEL')
    expect(error.cause).toBeUndefined()
    expect(JSON.stringify(error)).not.toMatch(/sc1|wd1|debug/)
  })
})

describe('merging', () => {
  test('lets the later layer win and records what it overrode', async () => {
    const { values, provenance } = mergeLayers(await decryptLayers(await branchBody(publicKeyJwk), privateKey))
    expect(values.LEVEL).toBe('trace')
    expect(provenance.LEVEL).toMatchObject({ source: 'branch', slug: 'pr-7', overrides: [shared, app] })
    expect(provenance.HOST).toEqual({ ...shared, overrides: [] })
  })

  test('treats `__proto__`, `constructor` and `toString` like any other name', async () => {
    const names = { ['__proto__']: 'a', constructor: 'b', toString: 'c' }
    const layers = [await layer(app, names, publicKeyJwk)]
    const { values, provenance } = mergeLayers(await decryptLayers({ scope, layers }, privateKey))
    expect(Object.entries(values)).toEqual(Object.entries(names))
    expect(Object.getPrototypeOf(values)).toBeNull()
    expect(Object.keys(provenance)).toEqual(Object.keys(names))
  })
})
