import { CryptoError } from '@skerry/crypto/errors'
import { type DecryptedLayer, originOf } from '@skerry/crypto/layers'
import { type Dek, importDek, openSecret } from '@skerry/crypto/secret'
import { type KeyHolder, unwrapKey } from '@skerry/crypto/wrap'
import { DecryptionError } from './errors.ts'
import type { Layer, ParsedBody } from './resolve-body.ts'

/**
 * Unwraps the key of every layer and decrypts every secret, bound to `<environmentId>/<NAME>`. One failure refuses the
 * whole answer, so that a program never starts with half of its settings.
 *
 * @throws DecryptionError with the layer's slug and the secret's name, never a value.
 * @example const layers = await decryptLayers(await client.resolve.get(), privateKey)
 */
export async function decryptLayers(body: ParsedBody, holder: KeyHolder): Promise<DecryptedLayer[]> {
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

/**
 * Waits for all, then throws the first error in list order, not in time. So a repeated failure has the same message.
 */
async function inOrder<T>(pending: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(pending)
  return Promise.all(pending)
}

async function layerKey(layer: Layer, holder: KeyHolder): Promise<Dek> {
  try {
    return await importDek(await unwrapKey(layer.wrappedDek, holder))
  } catch (error) {
    // A holder elsewhere can fail in other ways, which say nothing about the layer.
    throw error instanceof CryptoError ? new DecryptionError(layer.slug, undefined) : error
  }
}
