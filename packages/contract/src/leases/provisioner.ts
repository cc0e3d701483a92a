import { Type } from 'typebox'
import { post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, Ok, Strict } from '../schema.ts'
import { AdminSecret, LeaseTarget } from './schemas.ts'

export const provisionerJobKinds = ['verify', 'create', 'revoke'] as const

/** Text that admins see, without control characters. */
const Told = Type.String({
  minLength: 1,
  maxLength: limits.provisionerTextCharacters,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
})

const Objects = (description: string) =>
  Type.Optional(Type.Array(Told, { maxItems: limits.leaseObjectsNamedMax, description }))

const ProvisionerLease = Strict({
  id: Id('lease'),
  resourceRef: Type.String({ description: 'Name of the account' }),
  verifier: Nullable(Type.String({ description: 'Only for making an account: the verifier of its password' })),
  verifierDigest: Nullable(Type.String({ description: 'SHA-256 of the verifier in hex' })),
  expiresAt: Instant,
})

const Job = Strict({
  id: Id('provisionerJob'),
  kind: Type.Unsafe<(typeof provisionerJobKinds)[number]>(
    Type.Union(
      provisionerJobKinds.map((kind) => Type.Literal(kind)),
      { description: 'The kind of work: sign in and report, make an account, or remove an account' },
    ),
  ),
  attempt: Type.Integer({
    description:
      'Number of this attempt. From 2 on, another process had the job before, and may have done a part of it',
  }),
  target: Strict({
    id: LeaseTarget.properties.id,
    name: LeaseTarget.properties.name,
    config: LeaseTarget.properties.config,
    wrappedAdminSecret: AdminSecret,
  }),
  lease: Nullable(ProvisionerLease),
})

/**
 * Endpoints for a provisioner: a process in a customer's own network that signs in to the targets there. The caller is
 * the target's service token.
 */
export const provisioner = {
  claim: post('/v1/provisioner/jobs/claim', {
    summary:
      'Wait for a job. A provisioner (`skerry provisioner`, a program in your own network) calls this with its service token, and gets a job of a target whose settings name this token',
    unit: 'manual',
    body: Strict({
      waitSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: limits.provisionerWaitSecondsMax,
          description: 'How many seconds to wait if there is no work. Default: 20',
        }),
      ),
    }),
    responses: { 200: Strict({ job: Nullable(Job) }) },
    unaudited: 'the call only assigns a job. The report of the job is recorded',
  }),
  report: post('/v1/provisioner/jobs/:jobId/report', {
    summary:
      'Report the result of a job from `provisioner.claim`. If the server has meanwhile assigned the job again, the job has a new id, and a report with the earlier id gets 404',
    unit: 'manual',
    body: Strict({
      ok: Type.Boolean({ description: 'True if the work succeeded' }),
      error: Type.Optional({
        ...Strict({
          message: Type.String({ ...Told, description: 'The error text for admins' }),
          changedNothing: Type.Boolean({ description: 'True if nothing on the target has changed' }),
          crashed: Type.Optional(
            Type.Boolean({
              description:
                'True if the target made the driver (the program part that connects to the target) crash, hang or use too much memory',
            }),
          ),
        }),
        description: 'The error, if `ok` is false',
      }),
      server: Type.Optional(Type.String({ ...Told, description: 'Version of the target, as the target reported it' })),
      notes: Type.Optional(Type.Array(Told, { maxItems: 20, description: 'Notes for an admin' })),
      dropped: Objects('Objects of the account that were deleted, because they ran with the rights of the account'),
      reassigned: Objects('Objects of the account that now belong to a role that cannot sign in'),
    }),
    responses: { 200: Ok },
    refuses: ['not_found'],
    audits: ['lease.created', 'lease.failed', 'lease_target.verified'],
  }),
}
