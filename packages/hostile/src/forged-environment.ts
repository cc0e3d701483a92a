import type { Bytes } from '@skerry/crypto/base64url'
import { importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { parseToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { newEnvironmentId } from '../../cli/test/hostile/forged.ts'
import type { Json } from '../../cli/test/hostile/liar.ts'
import { forgedValue, type Stage } from './stage.ts'

/** An answer to the token from an environment that the server made, with the key that it made. */
export async function forgedEnvironment(stage: Stage): Promise<{ answer: Json; environmentId: string; key: Bytes }> {
  const [environmentId, key] = [newEnvironmentId(), newDek()]
  const { publicKeyJwk } = await parseToken(stage.token.plain)
  const app = {
    ...stage.now.layers.find(({ source }: Json) => source === 'app'),
    environmentId,
    wrappedDek: await wrapKey(key, publicKeyJwk),
    secrets: [{ name: 'A', ciphertext: await sealSecret(forgedValue, await importDek(key), environmentId, 'A') }],
  }
  const layers = stage.now.layers.map((layer: Json) => (layer.source === 'app' ? app : layer))
  return { answer: { ...stage.now, scope: { ...stage.now.scope, envId: environmentId }, layers }, environmentId, key }
}
