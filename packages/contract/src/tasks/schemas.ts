import { Type } from 'typebox'
import { injectableNamePattern } from '../agents/policy-body.ts'
import { Thumbprint } from '../agents/schemas.ts'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const Name = Type.String({ pattern: injectableNamePattern, description: 'Name of a secret' })

export const Scopes = Nullable(
  Type.Array(Name, { description: 'null: every secret that the policy allows. Empty: no secret' }),
)

export const AgentTask = Strict({
  id: Id('agentTask'),
  taskRef: Id('taskRef'),
  agentId: Id('agent'),
  scopes: Scopes,
  label: Nullable(Type.String()),
  proofThumbprint: Nullable(Thumbprint),
  status: Type.Union([Type.Literal('active'), Type.Literal('expired'), Type.Literal('revoked')]),
  dispatchedByType: Type.String(),
  dispatchedById: Type.String(),
  createdAt: Instant,
  expiresAt: Instant,
  lastSeenAt: Nullable(Instant),
  revokedAt: Nullable(Instant),
})

/** The decisions that a proxy can make about one request. */
export const activityDecisions = [
  'allow',
  'no_rule',
  'method_not_allowed',
  'path_not_allowed',
  'secret_not_allowed',
  'unknown_secret',
  'ratchet_withdrawn',
  'policy_unavailable',
] as const
