import { Type } from 'typebox'
import { changeNoteHeader } from '../headers.ts'
import { limits } from '../limits.ts'
import { FreeText, Id, Instant, Nullable, SecretName, Strict, Version } from '../schema.ts'
import { KeepFor } from '../secrets/schemas.ts'

export const RequiredApprovals = Type.Integer({ minimum: 1, maximum: limits.requiredApprovalsMax })

export const Protection = Strict({ requiredApprovals: RequiredApprovals, allowSelfApproval: Type.Boolean() })

export const ChangeStatus = Type.Union([
  Type.Literal('open'),
  Type.Literal('applied'),
  Type.Literal('superseded'),
  Type.Literal('rejected'),
  Type.Literal('withdrawn'),
])

/**
 * A proposed change of one secret. Its approval settings are those at the time of the proposal. `baseVersion` is the
 * secret's version at that time, 0 for none. A put has a `ciphertext`, and so has a restore of a deleted secret or of a
 * version from before a rename, but only for a caller with a key grant on the environment. It is removed when the secret that it was proposed for is deleted. A restore has `restoreVersion`. A
 * deletion may have `keepFor`, which begins with the approval. `deletedSecretId` names the deleted secret that a restore
 * brings back or that a deletion purges.
 * Changes that were proposed together share a `groupId` and its `groupSize`, and a decision on one is a decision on all
 * of them.
 */
export const SecretChangeRequest = Strict({
  id: Id('changeRequest'),
  environmentId: Id('environment'),
  secretName: SecretName,
  action: Type.Union([Type.Literal('put'), Type.Literal('delete'), Type.Literal('restore')]),
  ciphertext: Nullable(Type.String()),
  restoreVersion: Nullable(Version),
  keepFor: Nullable(KeepFor),
  deletedSecretId: Nullable(Id('secret')),
  baseVersion: Type.Integer({ minimum: 0 }),
  note: Nullable(Type.String()),
  groupId: Nullable(Id('changeGroup')),
  groupSize: Type.Integer({ minimum: 1, maximum: limits.changeGroupMax }),
  proposedByType: Type.String(),
  proposedById: Type.String(),
  requiredApprovals: RequiredApprovals,
  allowSelfApproval: Type.Boolean(),
  status: ChangeStatus,
  createdAt: Instant,
  closedAt: Nullable(Instant),
})

/**
 * A proposed change: of one secret, or of the key. A proposed re-key has the action `rekey`, is about no single secret, and
 * is never part of a group. The new key and ciphertexts that it carries are deleted with its decision.
 */
export const ChangeRequest = Strict({
  ...SecretChangeRequest.properties,
  secretName: { ...Nullable(SecretName), description: 'null for a re-key' },
  action: Type.Union([
    Type.Literal('put'),
    Type.Literal('delete'),
    Type.Literal('restore'),
    Type.Literal('rekey', { description: 'a new key for the environment; no value changes' }),
  ]),
})

/**
 * A change that says whether its proposer still has access. A change stays open when its proposer loses access, because
 * it may be honest work: the approvers decide.
 */
export const ShownChange = Strict({
  ...ChangeRequest.properties,
  proposerEnded: {
    ...Nullable(Type.Union([Type.Literal('revoked'), Type.Literal('removed')])),
    description:
      'How the proposer lost access: a token or machine client was `revoked`, or a person was `removed`. null while the proposer has access',
  },
  proposerEndedAt: {
    ...Nullable(Instant),
    description: 'When the proposer lost access. null also if the audit log no longer has the entry of the removal',
  },
})

/** A change in a list, which also says whether an open one can still be applied. */
export const ListedChange = Strict({
  ...ShownChange.properties,
  stale: Type.Boolean({
    description:
      'True if the change is open, but a secret or a reader has changed since the proposal. The change can then no longer be applied: an approval only closes it',
  }),
})

export const changeNote = {
  [changeNoteHeader]: {
    ...FreeText,
    description: 'In a protected environment: a note for the admins who review the change, as percent-encoded UTF-8',
  },
}

/** The answer to PUT, DELETE and restore in a protected environment, with status 202. Callers branch on `queued`. */
export const Queued = Strict({ queued: Type.Literal(true), changeRequest: SecretChangeRequest })
