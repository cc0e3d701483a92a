import { z } from 'zod'
import { appPlace, fields, options } from './fields.ts'
import { type Tool, told, tool } from './tool.ts'

const { app, group, slug, from, displayName: name } = fields

const createApp = tool({
  name: 'create_app',
  description: 'Create an application.',
  input: { slug, name },
  does: 'write',
  run: async ({ slug, name }, { json }) => told(await json(['app', 'create', slug, ...options({ name })])),
})

const createEnv = tool({
  name: 'create_env',
  description: 'Create an environment of an application; its key is made on this machine.',
  input: { app, slug, name },
  does: 'write',
  run: async ({ slug, ...rest }, { json }) => told(await json(['env', 'create', slug, ...options(rest)])),
})

const createGroup = tool({
  name: 'create_group',
  description: 'Create a group: secrets that applications share.',
  input: { slug, name },
  does: 'write',
  run: async ({ slug, name }, { json }) => told(await json(['group', 'create', slug, ...options({ name })])),
})

const createGroupEnv = tool({
  name: 'create_group_env',
  description: 'Create an environment of a group; its key is made on this machine.',
  input: { group, slug, name },
  does: 'write',
  run: async ({ slug, ...rest }, { json }) => told(await json(['env', 'create', slug, ...options(rest)])),
})

const composeGroup = tool({
  name: 'compose_group',
  description:
    'Compose a group into an environment. Readers of the environment who lack the group’s key would be shut out: that is refused, unless grant gives it to them.',
  input: {
    group,
    ...appPlace,
    position: z.int().min(0).optional().describe('higher overrides lower; last unless given'),
    grant: z.boolean().optional().describe('grant the group’s key to everyone who reads the environment'),
  },
  does: 'write',
  run: async ({ group, ...rest }, { json }) => told(await json(['compose', 'set', group, ...options(rest)])),
})

const uncomposeGroup = tool({
  name: 'uncompose_group',
  description: 'Take a group out of an environment.',
  input: { group, ...appPlace },
  does: 'destroy',
  run: async ({ group, ...place }, { json }) =>
    told(await json(['compose', 'remove', group, ...options({ ...place, yes: true })])),
})

const listEnvGroups = tool({
  name: 'list_env_groups',
  description: 'The groups that are composed into an environment, lowest precedence first.',
  input: appPlace,
  does: 'read',
  run: async (place, { json }) => told(await json(['compose', 'list', ...options(place)])),
})

const listGroupEnvs = tool({
  name: 'list_group_envs',
  description: 'The environments of a group.',
  input: { group },
  does: 'read',
  run: async ({ group }, { json }) => told(await json(['env', 'list', ...options({ group })])),
})

const createBranch = tool({
  name: 'create_branch',
  description: 'Fork an environment; a branch holds only what differs.',
  input: { app, from, slug, ttl: fields.ttl, name },
  does: 'write',
  run: async ({ slug, ...rest }, { json }) => told(await json(['branch', 'create', slug, ...options(rest)])),
})

const deleteBranch = tool({
  name: 'delete_branch',
  description: 'Delete a branch with its values.',
  input: { app, from, slug },
  does: 'destroy',
  run: async ({ slug, ...rest }, { json }) =>
    told(await json(['branch', 'delete', slug, ...options({ ...rest, yes: true })])),
})

const listBranches = tool({
  name: 'list_branches',
  description: 'The branches of an application, or of one of its environments.',
  input: { app, from },
  does: 'read',
  run: async (given, { json }) => told(await json(['branch', 'list', ...options(given)])),
})

export const placeTools: Tool[] = [
  createApp,
  createEnv,
  createGroup,
  createGroupEnv,
  composeGroup,
  uncomposeGroup,
  listEnvGroups,
  listGroupEnvs,
  createBranch,
  deleteBranch,
  listBranches,
]
