import { forged, forgedGroup, newEnvironmentId } from '../../../cli/test/hostile/forged.ts'
import type { Json } from '../../../cli/test/hostile/liar.ts'
import { layerOf, publicKeyOf, resolving, withLayer } from '../answers.ts'
import type { Attack } from '../attack.ts'
import { forgedValue } from '../stage.ts'

// Lies about environments, keys and layers. The directory in the answer stays the honest one.

export const environments: readonly Attack[] = [
  {
    id: 'invented-environment',
    title: 'Instead of the environment, the server sends an environment that it made, with its own key and values',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const environmentId = newEnvironmentId()
      const layer = { ...layerOf(stage.now, 'app'), environmentId }
      const app = await forged(layer, await publicKeyOf(stage), { A: forgedValue })
      const answer = withLayer(stage.now, 'app', app)
      stage.liar.lie(resolving, () => ({ ...answer, scope: { ...answer.scope, envId: environmentId } }))
    },
  },
  {
    id: 'replaced-key',
    title: 'The server replaces the key of an environment with its own key, and all values with its own values',
    act: 'run',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin' },
    begin: async (stage) => {
      const app = await forged(layerOf(stage.now, 'app'), await publicKeyOf(stage), { A: forgedValue })
      stage.liar.lie(resolving, () => withLayer(stage.now, 'app', app))
    },
  },
  {
    id: 'other-organization',
    title: 'The server responds as if the token belonged to another organization',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const app = await forged(layerOf(stage.now, 'app'), await publicKeyOf(stage), { A: forgedValue })
      const answer = withLayer(stage.now, 'app', app)
      const orgId = `org_${'0'.repeat(22)}`
      stage.liar.lie(resolving, () => ({ ...answer, scope: { ...answer.scope, orgId } }))
    },
  },
  {
    id: 'added-layer',
    title: 'The server adds a group that nobody added to the environment',
    act: 'run',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin' },
    begin: async (stage) => {
      const group = await forgedGroup(await publicKeyOf(stage), { NEW: forgedValue })
      stage.liar.lie(resolving, () => ({ ...stage.now, layers: [group, ...stage.now.layers] }))
    },
  },
  {
    id: 'missing-layer',
    title: 'The server leaves out a group that the environment includes',
    act: 'run',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin' },
    begin: ({ liar, now }) =>
      liar.lie(resolving, () => ({ ...now, layers: now.layers.filter(({ source }: Json) => source !== 'group') })),
  },
  {
    id: 'swapped-group',
    title: 'Instead of a group that the environment includes, the server sends a group that it made',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const layer = { ...layerOf(stage.now, 'group'), environmentId: newEnvironmentId() }
      const other = await forged(layer, await publicKeyOf(stage), { B: forgedValue })
      stage.liar.lie(resolving, () => withLayer(stage.now, 'group', other))
    },
  },
  {
    id: 'branch-as-its-parent',
    title: 'The client asks for an environment, and the server sends the key and the values of one of its branches',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: ({ liar, now, branchNow }) => {
      const { environmentId, wrappedDek, secrets } = layerOf(branchNow, 'branch')
      const app = { ...layerOf(now, 'app'), environmentId, wrappedDek, secrets }
      liar.lie(resolving, () => ({
        ...withLayer(now, 'app', app),
        scope: { ...now.scope, envId: environmentId },
      }))
    },
  },
]
