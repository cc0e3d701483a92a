import { Type } from 'typebox'
import { Strict } from '../schema.ts'
import type { SyncRow } from './row.ts'

// Sync destinations where code runs: hosting of front ends, of the edge, of applications.

const Config = <const T extends string>(tag: T) => Strict({ provider: Type.Literal(tag) })

const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
const Uuid = (description: string) => Type.String({ pattern: uuid, description })

/** One segment of a URL's path. It cannot be `.` or `..`. */
const Segment = (description: string, maxLength = 100) =>
  Type.String({ pattern: `^[A-Za-z0-9_-][A-Za-z0-9._-]{0,${maxLength - 1}}$`, description })

const Branch = (description: string) => Type.String({ minLength: 1, maxLength: 250, description })

const some = <const T extends readonly string[]>(description: string, ...values: T) =>
  Type.Array(Type.Enum(values), { minItems: 1, maxItems: values.length, uniqueItems: true, description })

const EdgeConfig = <const T extends string>(tag: T) =>
  Strict({
    provider: Type.Literal(tag),
    accountId: Type.String({
      pattern: '^[0-9a-f]{32}$',
      description: 'Id of the Cloudflare account, 32 hexadecimal digits.',
    }),
  })

const scope = Type.Optional(
  Type.Union([Type.Literal('RUN_TIME'), Type.Literal('BUILD_TIME'), Type.Literal('RUN_AND_BUILD_TIME')], {
    description: 'When the app has the values: RUN_TIME (default), BUILD_TIME or RUN_AND_BUILD_TIME.',
  }),
)

const kind = <const T extends string>(value: T) =>
  Type.Literal(value, { description: 'Kind of the destination. The other fields depend on the kind.' })

export const syncPlatforms = {
  'app-platform-c': {
    config: Config('app-platform-c'),
    destination: Strict({
      provider: Type.Literal('app-platform-c'),
      appName: Type.String({
        pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
        description: 'Name of the Fly.io app whose secrets are written.',
      }),
    }),
    credential: 'Access token that can set secrets of the app. `fly tokens create deploy` prints such a token.',
  },
  'frontend-cloud': {
    config: Strict({
      provider: Type.Literal('frontend-cloud'),
      teamId: Type.Optional(Segment('Id of the team that owns the project. Leave it out for a personal account.')),
    }),
    destination: Strict({
      provider: Type.Literal('frontend-cloud'),
      projectId: Segment('Id (prj_...) or name of the Vercel project.'),
      targets: some('Environments whose variables are written.', 'production', 'preview', 'development'),
      gitBranch: Type.Optional(
        Branch('Git branch whose preview deployments get the values. Only if preview is the only environment.'),
      ),
    }),
    credential:
      'Access token of an account that can change environment variables of the project. To change variables of production, the account may need an additional right at Vercel.',
  },
  'edge-workers': {
    config: EdgeConfig('edge-workers'),
    destination: Strict({
      provider: Type.Literal('edge-workers'),
      scriptName: Segment('Name of the Worker whose secrets are written. It must exist.'),
    }),
    credential: 'API token with the permission “Workers Scripts: Edit” for the account.',
  },
  'edge-pages': {
    config: EdgeConfig('edge-pages'),
    destination: Strict({
      provider: Type.Literal('edge-pages'),
      projectName: Segment('Name of the Pages project whose secrets are written.'),
      environments: some('Environments whose secrets are written.', 'production', 'preview'),
    }),
    credential: 'API token with the permission “Cloudflare Pages: Edit” for the account.',
  },
  'edge-secrets-store': {
    config: EdgeConfig('edge-secrets-store'),
    destination: Strict({
      provider: Type.Literal('edge-secrets-store'),
      storeId: Segment('Id of the store.'),
      scopes: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$' }), {
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
        description:
          'Products that may use the secrets: workers, ai_gateway, dex, access, containers, websearch. An existing secret keeps its other products.',
      }),
    }),
    credential: 'API token with the permission “Account Secrets Store: Edit” for the account.',
  },
  'app-platform-a': {
    config: Strict({
      provider: Type.Literal('app-platform-a'),
      tokenKind: Type.Optional(
        Type.Union([Type.Literal('account'), Type.Literal('project')], {
          description: 'Kind of the token: project, or account (default), which includes tokens of a workspace.',
        }),
      ),
    }),
    destination: Strict({
      provider: Type.Literal('app-platform-a'),
      projectId: Uuid('Id of the Railway project.'),
      environmentId: Uuid('Id of the environment in the project.'),
      serviceId: Type.Optional(
        Uuid('Id of the service. Leave it out to write the shared variables of the environment.'),
      ),
      skipDeploys: Type.Optional(
        Type.Boolean({
          description: 'If true, written values take effect only at the next deployment. Default: false.',
        }),
      ),
    }),
    credential:
      'Project token of the Railway environment, if the field tokenKind of the connection is project. If tokenKind is account (the default), token of the Railway account or of a Railway workspace.',
  },
  'app-platform-b': {
    config: Config('app-platform-b'),
    destination: Type.Union([
      Strict({
        provider: Type.Literal('app-platform-b'),
        kind: kind('service'),
        serviceId: Segment('Id of the Render service (srv-...).'),
      }),
      Strict({
        provider: Type.Literal('app-platform-b'),
        kind: kind('env-group'),
        envGroupId: Segment('Id of the environment group (evg-...).'),
      }),
    ]),
    credential:
      'API key of a user who can change the service or group. The key gives access to all workspaces of this user.',
  },
  'app-platform-d': {
    config: Config('app-platform-d'),
    destination: Strict({
      provider: Type.Literal('app-platform-d'),
      projectId: Segment('Id of the Northflank project, as in its URL.'),
      secretGroupId: Segment('Id of the secret group in the project.'),
    }),
    credential:
      'API token of a role that can read and update values of the secret group. Skerry refuses a token that cannot read the values, because each write replaces all values of the group.',
  },
  'app-platform-e': {
    config: Config('app-platform-e'),
    destination: Type.Union([
      Strict({
        provider: Type.Literal('app-platform-e'),
        kind: kind('app'),
        appId: Uuid('Id of the app whose variables are written. All components of the app get these variables.'),
        scope,
      }),
      Strict({
        provider: Type.Literal('app-platform-e'),
        kind: kind('component'),
        appId: Uuid('Id of the app.'),
        componentName: Type.String({
          pattern: '^[a-z][a-z0-9-]{0,30}[a-z0-9]$',
          description: 'Name of the service, static site, worker, job or function in the app.',
        }),
        scope,
      }),
    ]),
    credential: 'Access token with the scopes app:read and app:update.',
  },
  'app-platform-f': {
    config: Config('app-platform-f'),
    destination: Strict({
      provider: Type.Literal('app-platform-f'),
      app: Type.String({
        pattern: `^[a-z][a-z0-9-]{1,28}[a-z0-9]$|${uuid}`,
        description: 'Name or id (UUID) of the app. The id does not change if somebody renames the app.',
      }),
    }),
    credential: 'OAuth token with the scopes read-protected and write-protected, or an API key.',
  },
  'site-host': {
    config: Strict({
      provider: Type.Literal('site-host'),
      accountId: Segment('Slug or id of the team that owns the site.'),
    }),
    destination: Strict({
      provider: Type.Literal('site-host'),
      siteId: Uuid('Id of the site.'),
      contexts: some(
        'Deploy contexts whose values are written.',
        'production',
        'deploy-preview',
        'branch-deploy',
        'branch',
        'dev',
      ),
      branch: Type.Optional(Branch('Name of the branch. Needed for the context branch, and allowed only for it.')),
      secret: Type.Optional(
        Type.Boolean({ description: 'If true, nobody can read the written values at Netlify. Default: true.' }),
      ),
    }),
    credential: 'Personal access token of a member of the Netlify team.',
  },
} satisfies Record<string, SyncRow>
