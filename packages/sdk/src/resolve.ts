import { CryptoError } from '@skerry/crypto/errors'
import { type Dek, importDek, openSecret } from '@skerry/crypto/secret'
import { type KeyHolder, unwrapKey } from '@skerry/crypto/wrap'
import { DecryptionError } from './errors.ts'
import type { Layer, ResolveBody } from './resolve-body.ts'

/** Where a value comes from. `groupSlug` is there for `source: 'group'`. */
export interface Origin {
  source: Layer['source']
  environmentId: string
  slug: string
  groupSlug?: string
}

/** A layer in plaintext. `values` has no prototype, so that a secret may be called `__proto__`. */
export interface DecryptedLayer extends Origin {
  values: Record<string, string>
}

/** The layer that a value was taken from, and those that it overrides, lowest precedence first. */
export interface Provenance extends Origin {
  overrides: Origin[]
}

/** The values of all layers, and where each comes from. Neither record has a prototype. */
export interface Merged {
  values: Record<string, string>
  provenance: Record<string, Provenance>
}

/**
 * Unwraps the key of every layer and decrypts every secret in its place, `<environmentId>/<NAME>`. All or nothing: one
 * that fails refuses the whole, so that a program never starts on half of its settings.
 *
 * @throws DecryptionError with the layer's slug and the secret's name, never a value.
 * @example const layers = await decryptLayers(parseResolveBody(text, asked), privateKey)
 */
export async function decryptLayers(body: ResolveBody, holder: KeyHolder): Promise<DecryptedLayer[]> {
  return inOrder(body.layers.map((layer) => decryptLayer(layer, holder)))
}

async function decryptLayer(layer: Layer, holder: KeyHolder): Promise<DecryptedLayer> {
  const dek = await layerKey(layer, holder)
  const plaintexts = await inOrder(
    layer.secrets.map(({ name, ciphertext }) =>
      openSecret(ciphertext, dek, layer.environmentId, name).catch(() => {
        throw new DecryptionError(layer.slug, name)
      }),
    ),
  )
  const values: Record<string, string> = Object.create(null)
  for (const [i, { name }] of layer.secrets.entries()) values[name] = plaintexts[i]!
  return { ...originOf(layer), values }
}

/** Of several failures the first in order, not the first in time: what is refused twice is refused in the same words. */
async function inOrder<T>(pending: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(pending)
  return Promise.all(pending)
}

async function layerKey(layer: Layer, holder: KeyHolder): Promise<Dek> {
  try {
    return await importDek(await unwrapKey(layer.wrappedDek, holder))
  } catch (error) {
    // A holder elsewhere can fail in ways of its own, which say nothing about the layer.
    throw error instanceof CryptoError ? new DecryptionError(layer.slug, undefined) : error
  }
}

/**
 * One value per name: a later layer overrides an earlier one.
 *
 * @example mergeLayers([shared, app]).provenance.API_KEY // { source: 'app', ..., overrides: [{ source: 'group', ... }] }
 */
export function mergeLayers(layers: readonly DecryptedLayer[]): Merged {
  const merged: Merged = { values: Object.create(null), provenance: Object.create(null) }
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer.values)) {
      const overridden = merged.provenance[name]
      const overrides = overridden ? [...overridden.overrides, originOf(overridden)] : []
      merged.values[name] = value
      merged.provenance[name] = { ...originOf(layer), overrides }
    }
  }
  return merged
}

function originOf({ source, environmentId, slug, groupSlug }: Origin): Origin {
  return { source, environmentId, slug, ...(groupSlug === undefined ? {} : { groupSlug }) }
}
