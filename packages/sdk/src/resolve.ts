import { CryptoError } from '@skerry/crypto/errors'
import { type DecryptedLayer, originOf } from '@skerry/crypto/layers'
import { type Dek, importDek, openSecret } from '@skerry/crypto/secret'
import { type KeyHolder, unwrapKey } from '@skerry/crypto/wrap'
import { DecryptionError } from './errors.ts'
import type { Layer, ResolveBody } from './resolve-body.ts'

/**
 * Unwraps the key of every layer and decrypts every secret in its place, `<environmentId>/<NAME>`. All or nothing: one
 * that fails refuses the whole, so that a program never starts on half of its settings.
 *
 * @throws DecryptionError with the layer's slug and the secret's name, never a value.
 * @example const layers = await decryptLayers(await client.resolve.get(), privateKey)
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
