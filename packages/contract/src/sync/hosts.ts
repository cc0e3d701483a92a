import { Type } from 'typebox'
import { Strict } from '../schema.ts'
import type { SyncRow } from './row.ts'

// The settings of code hosts, and of environments and platforms of agents. Rules between two fields are in rules.ts.

const uuid = '^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$'

const ApiRoot = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: '^https://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~-]+)*/?$',
      description,
    }),
  )

const Owner = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$',
  description: 'User or organization that owns the repository.',
})
const Repo = Type.String({
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,100}$',
  description: 'Name of the repository.',
})

const Secret = Type.Optional(
  Type.Boolean({
    description:
      'If true, the variables are marked as secret, and Bunnyshell’s interface hides their values. Default: true.',
  }),
)
const BunnyshellId = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description })

const host =
  '(?=.{1,253}$)(?:\\*\\.)?[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*'
const Hosts = (description: string) =>
  Type.Union(
    [Type.Literal('unrestricted'), Type.Array(Type.String({ pattern: `^${host}$` }), { minItems: 1, maxItems: 16 })],
    { description },
  )

/** Code hosts, environments and platforms of agents, by tag. */
export const syncHosts = {
  'env-platform': {
    config: Strict({ provider: Type.Literal('env-platform') }),
    destination: Type.Union([
      Strict({
        provider: Type.Literal('env-platform'),
        kind: Type.Literal('environment', { description: 'The variables of an environment.' }),
        environmentId: BunnyshellId('Id of the environment whose variables are written.'),
        secret: Secret,
      }),
      Strict({
        provider: Type.Literal('env-platform'),
        kind: Type.Literal('project', {
          description: 'The variables of a project. New environments of the project start with these variables.',
        }),
        projectId: BunnyshellId(
          'Id of the project whose variables are written. Existing environments do not get these variables.',
        ),
        secret: Secret,
      }),
    ]),
    credential: 'Access token of a Bunnyshell user who can edit the variables that Skerry pushes.',
  },
  'code-host-ci': {
    config: Strict({
      provider: Type.Literal('code-host-ci'),
      baseUrl: ApiRoot('Address of the API of a GitHub Enterprise Server, such as `https://git.example.com/api/v3`.'),
    }),
    destination: Type.Union([
      Strict({
        provider: Type.Literal('code-host-ci'),
        kind: Type.Literal('repo', { description: 'The secrets of a repository.' }),
        owner: Owner,
        repo: Repo,
      }),
      Strict({
        provider: Type.Literal('code-host-ci'),
        kind: Type.Literal('environment', { description: 'The secrets of a deployment environment of a repository.' }),
        owner: Owner,
        repo: Repo,
        environment: Type.String({
          minLength: 1,
          maxLength: 255,
          pattern: '^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f]+$',
          description: 'Name of the deployment environment, which must exist.',
        }),
      }),
      Strict({
        provider: Type.Literal('code-host-ci'),
        kind: Type.Literal('org', { description: 'The secrets of an organization.' }),
        org: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$', description: 'Name of the organization.' }),
        visibility: Type.Union([Type.Literal('all'), Type.Literal('private'), Type.Literal('selected')], {
          description: 'Repositories of the organization whose workflows can read the secrets.',
        }),
        selectedRepositoryIds: Type.Optional(
          Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
            minItems: 1,
            maxItems: 1000,
            uniqueItems: true,
            description:
              'Numeric ids of the repositories. Needed for the visibility selected, and allowed only for it.',
          }),
        ),
      }),
    ]),
    credential:
      'Token with write access to the Actions secrets of the repository, its environments or the organization.',
  },
  'agent-platform': {
    config: Strict({
      provider: Type.Literal('agent-platform'),
      region: Type.Optional(
        Type.Union([Type.Literal('us'), Type.Literal('eu'), Type.Literal('apac'), Type.Literal('aws-us')], {
          description: 'Region of LangSmith that hosts the deployment. Default: us.',
        }),
      ),
      baseUrl: ApiRoot(
        'Address of the control plane of a self-hosted LangSmith, such as `https://smith.example.com/api-host`. You cannot set this together with a region.',
      ),
      tenantId: Type.Optional(
        Type.String({
          pattern: uuid,
          description: 'Id of the workspace. Needed only if the API key is for a whole organization.',
        }),
      ),
    }),
    destination: Strict({
      provider: Type.Literal('agent-platform'),
      deploymentId: Type.String({
        pattern: uuid,
        description: 'Id of the deployment. With each push, LangSmith builds and rolls out a new revision.',
      }),
    }),
    credential: 'API key (lsv2_...) that can change deployments of the workspace.',
  },
  'ml-spaces': {
    config: Strict({ provider: Type.Literal('ml-spaces') }),
    destination: Strict({
      provider: Type.Literal('ml-spaces'),
      repoId: Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$',
        description: 'The Space as `owner/name`. The Space restarts after each written secret.',
      }),
    }),
    credential: 'Token (hf_...) with the role write, or a fine-grained token with write access to the Space.',
  },
  'ai-agent-vaults': {
    config: Strict({ provider: Type.Literal('ai-agent-vaults') }),
    destination: Strict({
      provider: Type.Literal('ai-agent-vaults'),
      vaultId: Type.String({ pattern: '^vlt_[A-Za-z0-9]{1,64}$', description: 'Id of the vault, vlt_...' }),
      allowedHosts: Type.Optional(
        Hosts(
          'Hosts to which agents may send the secrets: up to 16 hostnames, `*.` wildcards or IPv4 addresses, or `unrestricted`.',
        ),
      ),
      allowedHostsByName: Type.Optional(
        Type.Record(
          Type.String({ minLength: 1, maxLength: 255 }),
          Hosts('Hosts for this name. They replace the hosts for all names.'),
          {
            description:
              'Hosts for single names, written as they are pushed. If a name has no hosts in either list, Skerry does not push it.',
          },
        ),
      ),
      injectionLocation: Type.Optional(
        Type.Union([Type.Literal('header'), Type.Literal('body'), Type.Literal('both')], {
          description: 'Part of an outgoing request in which the value may be. Default: header.',
        }),
      ),
    }),
    credential: 'Claude API key of the workspace that the vault belongs to.',
  },
} satisfies Record<string, SyncRow>
