import { z } from 'zod'
import { appPlace, fields, options } from './fields.ts'
import { handedOver, type Tool, told, tool } from './tool.ts'

const createToken = tool({
  name: 'create_token',
  description:
    'Make a service token that reads and writes an environment. It is shown once: into a file, or into the result with reveal.',
  input: {
    name: z.string().min(1).max(200).describe('what it is for'),
    ...appPlace,
    expires: fields.ttl,
    file: fields.file,
    reveal: fields.reveal,
  },
  does: 'write',
  run: async ({ file, reveal, ...wanted }, hands) =>
    handedOver({ file, reveal }, hands, async () => {
      const { token, ...rest } = told(await hands.json(['token', 'create', ...options(wanted)])) as { token: string }
      return { secret: token, rest }
    }),
})

const grantEnv = tool({
  name: 'grant_env',
  description: 'Give the key of an environment, and of the groups composed into it, to a service token.',
  input: { token: fields.token, ...appPlace },
  does: 'write',
  run: async (given, { json }) => told(await json(['grant', ...options(given)])),
})

const revokeToken = tool({
  name: 'revoke_token',
  description: 'End a service token; its next request is refused.',
  input: { token: fields.token },
  does: 'destroy',
  run: async ({ token }, { json }) => told(await json(['token', 'revoke', token, '--yes'])),
})

const listTokens = tool({
  name: 'list_tokens',
  description: 'The service tokens of the organization, revoked ones too.',
  input: {},
  does: 'read',
  run: async (_, { json }) => told(await json(['token', 'list'])),
})

export const tokenTools: Tool[] = [createToken, grantEnv, revokeToken, listTokens]
