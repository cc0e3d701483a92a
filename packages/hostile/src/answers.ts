import { parseToken } from '@skerry/crypto/token'
import type { Json } from '../../cli/test/hostile/liar.ts'
import type { Stage } from './stage.ts'

export const resolving = /\/v1\/resolve/

/** The public key of the token, which the server knows. */
export const publicKeyOf = async ({ token }: Stage) => (await parseToken(token.plain)).publicKeyJwk

export const layerOf = (answer: Json, source: 'group' | 'app' | 'branch') =>
  answer.layers.find((layer: Json) => layer.source === source)

/** The same answer with another layer in the place of the one of this kind. */
export const withLayer = (answer: Json, source: 'group' | 'app' | 'branch', changed: Json) => ({
  ...answer,
  layers: answer.layers.map((layer: Json) => (layer.source === source ? changed : layer)),
})
