import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, PublicKeyJwk, Strict } from '../schema.ts'
import { vendorList } from '../vendors.ts'
import { type SyncTag, syncProviders } from './providers.ts'

const tags = Object.keys(syncProviders) as SyncTag[]

const Provider = Type.Unsafe<SyncTag>(
  Type.Union(
    tags.map((tag) => Type.Literal(tag)),
    { description: `Tag of the destination’s vendor: ${vendorList(tags)}` },
  ),
)

/** The row of its provider (providers.ts) checks the other members. */
export const Config = Type.Object(
  { provider: Provider },
  {
    additionalProperties: true,
    maxProperties: 30,
    description: 'The settings of the connection. The fields depend on the provider',
  },
)

export const Destination = Type.Object(
  { provider: Provider },
  { additionalProperties: true, maxProperties: 30, description: 'The destination. The fields depend on the provider' },
)

export const ConnectionId = Id('syncConnection')

export const EnvironmentId = Id('environment')

export const SyncConnection = Strict({
  id: ConnectionId,
  name: Type.String(),
  provider: Provider,
  config: Config,
  publicKeyJwk: PublicKeyJwk,
  status: Type.Union([Type.Literal('unverified'), Type.Literal('ready'), Type.Literal('failing')]),
  lastError: Nullable(Type.String()),
  createdAt: Instant,
  updatedAt: Instant,
})

export const NameTransform = Strict({
  prefix: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: '^[A-Za-z0-9_.-]*$',
      description: 'Text before each name at the destination',
    }),
  ),
  suffix: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: '^[A-Za-z0-9_.-]*$',
      description: 'Text after each name at the destination',
    }),
  ),
  case: Type.Optional(
    Type.Union([Type.Literal('upper'), Type.Literal('lower')], {
      description: 'Case of the letters in the names at the destination. Default: unchanged',
    }),
  ),
})

export const Patterns = Type.Array(Type.String({ minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9_*]+$' }), {
  maxItems: limits.syncPatternsMax,
  description: 'Names of secrets. `*` matches any characters',
})

export const OnDelete = Type.Union([Type.Literal('keep'), Type.Literal('delete')], {
  description:
    'What the server does at the destination with a name that it no longer pushes. `delete` removes the name only if this binding wrote it',
})

export const Mode = Type.Union([Type.Literal('auto'), Type.Literal('manual')], {
  description:
    'auto: the server pushes within 5 seconds after a change. manual: the server pushes only when somebody calls `sync.run`',
})

export const Adopt = Type.Boolean({
  description: 'Whether the push overwrites names that somebody else wrote at the destination',
})

export const syncRunStatuses = ['running', 'succeeded', 'partial', 'failed'] as const

const RunStatus = Type.Unsafe<(typeof syncRunStatuses)[number]>(
  Type.Union(syncRunStatuses.map((status) => Type.Literal(status))),
)

/** A name at the destination. */
export const Name = Type.String({ minLength: 1, maxLength: 1024 })

export const Refused = Strict({ name: Name, reason: Type.String() })

export const SyncRun = Strict({
  id: Id('syncRun'),
  bindingId: Id('syncBinding'),
  connectionId: ConnectionId,
  environmentId: EnvironmentId,
  trigger: Type.Union([Type.Literal('request'), Type.Literal('change'), Type.Literal('retry')]),
  status: RunStatus,
  pushed: Type.Array(Name, { description: 'Names that the server wrote at the destination' }),
  deleted: Type.Array(Name, { description: 'Names that the server removed at the destination' }),
  skipped: Type.Array(Refused, {
    description:
      'Names that the server did not push because somebody else wrote them at the destination, and how to push them',
  }),
  failures: Type.Array(Refused, { description: 'Names that the server could not write or remove, with the reasons' }),
  unchanged: Type.Integer({ description: 'Number of names whose value was already right' }),
  error: Nullable(Type.String({ description: 'The error that ended the run early' })),
  startedAt: Instant,
  finishedAt: Nullable(Instant),
})

export const SyncLastRun = Strict({
  id: Id('syncRun'),
  status: RunStatus,
  startedAt: Instant,
  finishedAt: Nullable(Instant),
})

export const SyncBinding = Strict({
  id: Id('syncBinding'),
  connectionId: ConnectionId,
  environmentId: EnvironmentId,
  destination: Destination,
  nameTransform: NameTransform,
  include: Patterns,
  exclude: Patterns,
  onDelete: OnDelete,
  mode: Mode,
  adopt: Adopt,
  enabled: Type.Boolean(),
  missingEnvironmentIds: Type.Array(EnvironmentId, {
    description:
      'Environments whose key the connection does not have. Every push fails until somebody adds the keys with `sync.updateBinding`',
  }),
  lastRun: Nullable(SyncLastRun),
  lastError: Nullable(Type.String()),
  nextTryAt: Nullable(Type.String({ ...Instant, description: 'When the server tries the push again' })),
  createdAt: Instant,
  updatedAt: Instant,
})
