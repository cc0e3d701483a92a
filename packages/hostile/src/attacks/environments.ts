import { parseToken } from '@skerry/crypto/token'
import { forged, forgedGroup, newEnvironmentId } from '../../../cli/test/hostile/forged.ts'
import type { Json } from '../../../cli/test/hostile/liar.ts'
import type { Attack } from '../attack.ts'
import { forgedValue, type Stage } from '../stage.ts'

// Lies about environments, keys and layers. The directory in the answer stays the honest one.

const resolve = /\/v1\/resolve/

const publicKeyOf = async ({ token }: Stage) => (await parseToken(token.plain)).publicKeyJwk
const appOf = (answer: Json) => answer.layers.find(({ source }: Json) => source === 'app')
const withApp = (answer: Json, app: Json) => ({
  ...answer,
  layers: answer.layers.map((layer: Json) => (layer.source === 'app' ? app : layer)),
})

export const environments: readonly Attack[] = [
  {
    id: 'invented-environment',
    title: 'The server answers from an environment that it invented, with a key and values of its own',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const environmentId = newEnvironmentId()
      const app = await forged({ ...appOf(stage.now), environmentId }, await publicKeyOf(stage), { A: forgedValue })
      const answer = withApp(stage.now, app)
      stage.liar.lie(resolve, () => ({ ...answer, scope: { ...answer.scope, envId: environmentId } }))
    },
  },
  {
    id: 'replaced-key',
    title: 'The server replaces the key of an environment with its own, and all values with it',
    act: 'run',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin' },
    begin: async (stage) => {
      const app = await forged(appOf(stage.now), await publicKeyOf(stage), { A: forgedValue })
      stage.liar.lie(resolve, () => withApp(stage.now, app))
    },
  },
  {
    id: 'added-layer',
    title: 'The server adds the layer of a group that nobody composed',
    act: 'run',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin' },
    begin: async (stage) => {
      const group = await forgedGroup(await publicKeyOf(stage), { NEW: forgedValue })
      stage.liar.lie(resolve, () => ({ ...stage.now, layers: [group, ...stage.now.layers] }))
    },
  },
  {
    id: 'missing-layer',
    title: 'The server leaves out the layer of a composed group',
    act: 'run',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin' },
    begin: async ({ liar, now }) =>
      liar.lie(resolve, () => ({ ...now, layers: now.layers.filter(({ source }: Json) => source !== 'group') })),
  },
  {
    id: 'swapped-group',
    title: 'The server answers with another environment in the place of a composed group',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const key = await publicKeyOf(stage)
      const [group] = stage.now.layers
      const other = await forged({ ...group, environmentId: newEnvironmentId() }, key, { B: forgedValue })
      stage.liar.lie(resolve, () => ({ ...stage.now, layers: [other, ...stage.now.layers.slice(1)] }))
    },
  },
  {
    id: 'earlier-value',
    title:
      'The server answers with an earlier value of a secret, which the client has not seen and which opens with the present key',
    act: 'run',
    remains: {
      nothing: 'values-can-be-rolled-back',
      memory: 'values-can-be-rolled-back',
      pin: 'values-can-be-rolled-back',
      both: 'values-can-be-rolled-back',
    },
    begin: async ({ liar, now, ciphertexts: [, ciphertext] }) =>
      liar.lie(resolve, () => withApp(now, { ...appOf(now), secrets: [{ name: 'A', ciphertext }] })),
  },
]
