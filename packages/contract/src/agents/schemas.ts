import { Type } from 'typebox'
import { Id, Instant, Nullable, Slug, Strict, Version } from '../schema.ts'

export const Agent = Strict({
  id: Id('agent'),
  name: Type.String(),
  slug: Slug,
  environmentId: Nullable(Id('environment')),
  enabled: Type.Boolean(),
  policyVersion: Type.Integer({
    description: 'Number of the policy version that proxies get. 0: no version was published',
  }),
  lastPolicyFetchAt: Nullable(Instant),
  createdAt: Instant,
  updatedAt: Instant,
})

export const Thumbprint = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'RFC 7638 thumbprint of a public key',
})

/** Identifies an agent to the programs that enforce its policy. */
export const NamedAgent = Strict({ id: Id('agent'), slug: Slug, name: Type.String() })

export const AgentRule = Strict({
  host: Type.String(),
  methods: Type.Array(Type.String()),
  paths: Type.Array(Type.String()),
  allow: Type.Array(Type.String()),
  label: Type.Optional(Type.String()),
})

export const AgentPolicy = Strict({
  version: Version,
  bundle: Type.String(),
  signerThumbprint: Thumbprint,
  signerUserId: Id('user'),
  rolledBackFrom: Nullable(Type.Integer({ description: 'The earlier version that this version repeats' })),
  expiresAt: Instant,
  rules: Type.Array(AgentRule),
  createdAt: Instant,
})
