import { newId } from '@skerry/crypto/random'
import { importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Json } from './liar.ts'

// Things that a malicious server can make by itself, because it knows every public key.

/** A layer with another key, which is wrapped to the reader, and values that are encrypted with it. */
export async function forged(layer: Json, publicKeyJwk: string, values?: Record<string, string>): Promise<Json> {
  const bytes = newDek()
  const dek = await importDek(bytes)
  const named = values ?? Object.fromEntries(layer.secrets.map(({ name }: Json) => [name, 'forged']))
  const secrets = await Promise.all(
    Object.entries(named).map(async ([name, value]) => ({
      name,
      ciphertext: await sealSecret(value, dek, layer.environmentId, name),
    })),
  )
  return { ...layer, wrappedDek: await wrapKey(bytes, publicKeyJwk), secrets }
}

export const newEnvironmentId = (): string => newId('environment')

/** A layer of a group that nobody composed. */
export const forgedGroup = (publicKeyJwk: string, values: Record<string, string>): Promise<Json> =>
  forged(
    { source: 'group', environmentId: newEnvironmentId(), slug: 'development', groupSlug: 'extra', secrets: [] },
    publicKeyJwk,
    values,
  )
