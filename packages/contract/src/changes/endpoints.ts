import { Type } from 'typebox'
import { del, get, post, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { ProposedRekey, Rekey } from '../rekey/schemas.ts'
import {
  Ciphertext,
  ExpectedVersion,
  FreeText,
  Id,
  Instant,
  NextCursor,
  Nullable,
  Ok,
  Page,
  SecretName,
  Strict,
} from '../schema.ts'
import { KeepFor } from '../secrets/schemas.ts'
import {
  ChangeRequest,
  ChangeStatus,
  changeNote,
  ListedChange,
  Protection,
  RequiredApprovals,
  SecretChangeRequest,
  ShownChange,
} from './schemas.ts'

const Review = Strict({
  id: Id('review'),
  reviewerId: Id('user'),
  decision: Type.Union([Type.Literal('approve'), Type.Literal('reject')]),
  comment: Nullable(Type.String()),
  createdAt: Instant,
})

const Comment = Strict({
  comment: Type.Optional({ ...FreeText, description: 'A comment, which other people see with your review' }),
})

const Approval = Strict({
  ...Comment.properties,
  rekey: Type.Optional(
    Type.Literal(true, {
      description:
        'Must be true to approve a re-key. A client sends true only after it has told the approver that the change is a re-key',
    }),
  ),
})

export const protection = {
  get: get('/v1/orgs/:orgId/envs/:envId/protection', {
    summary:
      'Get the protection of an environment, and the number of changes that wait for approval. If the environment is not protected, `protection` is null',
    responses: {
      200: Strict({ protection: Nullable(Protection), openChangeRequests: Type.Integer() }),
    },
  }),
  put: put('/v1/orgs/:orgId/envs/:envId/protection', {
    summary:
      'Protect an environment: admins must then approve each change of its secrets. If the environment is protected already, the call changes the settings of the protection. A change that already waits for approval still needs as many approvals as were required when it was proposed',
    body: Strict({
      requiredApprovals: Type.Optional({
        ...RequiredApprovals,
        description: `How many admins must approve a change. Default: the current number. If the environment is not protected yet: ${limits.requiredApprovalsDefault}`,
      }),
      allowSelfApproval: Type.Optional(
        Type.Boolean({
          description:
            'True if admins may approve their own changes. Default: the current setting. If the environment is not protected yet: false',
        }),
      ),
    }),
    responses: { 200: Strict({ protection: Protection }) },
    refuses: ['quota_exceeded'],
    audits: ['env.protection_enabled', 'env.protection_updated'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId/protection', {
    summary:
      'End the protection of an environment. Later changes need no approval. A change that already waits stays open until an admin decides about it, or somebody withdraws it',
    responses: { 200: Ok },
    audits: ['env.protection_disabled'],
  }),
}

const One = Strict({ changeRequest: ChangeRequest })

const Expected = { expectedVersion: Type.Optional(ExpectedVersion) }

const several = { maxItems: limits.changeGroupMax }

export const changes = {
  list: get('/v1/orgs/:orgId/change-requests', {
    summary: 'List change requests (proposed changes of protected environments), newest first',
    query: Strict({
      ...Page.properties,
      status: Type.Optional({
        ...ChangeStatus,
        description:
          'Only change requests with this status. `superseded`: the server closed the change without applying it, because the secrets or readers had changed since the proposal',
      }),
      envId: Type.Optional({ ...Id('environment'), description: 'Only change requests in this environment' }),
      applicationId: Type.Optional({
        ...Id('application'),
        description: 'Only change requests in the environments and branches of this application',
      }),
      groupId: Type.Optional({
        ...Id('changeGroup'),
        description:
          'Only change requests that were proposed together: `changes.propose` returned this `groupId` for them',
      }),
    }),
    responses: { 200: Strict({ changeRequests: Type.Array(ListedChange), nextCursor: NextCursor }) },
  }),
  propose: post('/v1/orgs/:orgId/envs/:envId/change-requests', {
    summary:
      'Propose changes to several secrets of a protected environment. The server applies the changes when enough admins have approved them: all of them or none',
    body: Strict({
      puts: Type.Optional(
        Type.Array(Strict({ name: SecretName, ciphertext: Ciphertext, ...Expected }), {
          ...several,
          description: 'The secrets to create or change',
        }),
      ),
      deletes: Type.Optional(
        Type.Array(Strict({ name: SecretName, ...Expected, keepFor: Type.Optional(KeepFor) }), {
          ...several,
          description: 'The secrets to delete',
        }),
      ),
    }),
    headers: changeNote,
    responses: {
      202: Strict({
        queued: Type.Literal(true),
        groupId: { ...Nullable(Id('changeGroup')), description: 'null if the change is of one secret only' },
        changeRequests: Type.Array(SecretChangeRequest),
      }),
    },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['change_request.opened'],
  }),
  proposeRekey: post('/v1/orgs/:orgId/envs/:envId/change-requests/rekey', {
    summary:
      'Propose to re-key a protected environment, that is, to replace its key. If a re-key is proposed already, and the environment has changed since then, the new proposal replaces the earlier one. If it has not changed, the answer is 409',
    body: Rekey,
    headers: changeNote,
    responses: { 202: Strict({ queued: Type.Literal(true), changeRequest: ChangeRequest }) },
    bodyBytes: limits.rekeyBodyBytes,
    refuses: ['conflict'],
    audits: ['change_request.opened', 'change_request.superseded'],
  }),
  get: get('/v1/orgs/:orgId/change-requests/:changeRequestId', {
    summary: 'Get a change request (a proposed change of a protected environment), with the reviews of admins',
    responses: { 200: Strict({ changeRequest: ShownChange, reviews: Type.Array(Review) }) },
  }),
  rekey: get('/v1/orgs/:orgId/change-requests/:changeRequestId/rekey', {
    summary:
      'Get a proposed re-key: the list of readers who should get the new key. If the caller has the current key, the answer also has the new ciphertexts',
    responses: { 200: Strict({ rekey: ProposedRekey }) },
  }),
  approve: post('/v1/orgs/:orgId/change-requests/:changeRequestId/approve', {
    summary:
      'Approve a change request and all changes that were proposed together with it. When enough admins have approved, the server applies the changes: it stores exactly the ciphertext that was proposed',
    body: Approval,
    responses: {
      200: Strict({
        changeRequest: ChangeRequest,
        status: ChangeStatus,
        approvals: Type.Integer(),
        required: Type.Integer(),
      }),
    },
    refuses: ['conflict', 'quota_exceeded'],
    audits: [
      'change_request.approved',
      'change_request.applied',
      'change_request.superseded',
      'secret.written',
      'secret.restored',
      'secret.deleted',
      'secret.undeleted',
      'secret.purged',
      'env.rekeyed',
    ],
  }),
  reject: post('/v1/orgs/:orgId/change-requests/:changeRequestId/reject', {
    summary:
      'Reject a change request and all changes that were proposed together with it. One rejection by an admin is enough',
    body: Comment,
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['change_request.rejected'],
  }),
  withdraw: post('/v1/orgs/:orgId/change-requests/:changeRequestId/withdraw', {
    summary: 'Withdraw a change request and all changes that were proposed together with it',
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['change_request.withdrawn'],
  }),
}
