import { Type } from 'typebox'
import { changeNote, Queued } from '../changes/schemas.ts'
import { del, get, post, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import {
  Ciphertext,
  ExpectedVersion,
  Instant,
  NextCursor,
  Nullable,
  Ok,
  Page,
  PageOf,
  SecretName,
  Strict,
  Version,
} from '../schema.ts'
import { DetailsOfRename } from '../secret-details/schemas.ts'
import { DeletedSecret, KeepFor, NamedBy, SealedFormerNames, Secret } from './schemas.ts'

const SecretVersion = Strict({
  version: Version,
  ciphertext: Type.String(),
  createdByType: Type.String(),
  createdById: Type.String(),
  restoredFromVersion: Nullable(Version),
  createdAt: Instant,
  // A server of an earlier release does not send it.
  formerName: Type.Optional({
    ...Nullable(SecretName),
    description: 'The name under which this version was encrypted, if the secret has been renamed since',
  }),
})

const One = Strict({ secret: Secret })

const DeletedSecretWithCiphertext = Strict({
  ...DeletedSecret.properties,
  ciphertext: { ...Nullable(Type.String()), description: 'null if the secret cannot be restored' },
})

const Expected = Strict({ expectedVersion: Type.Optional(ExpectedVersion) })

export const secrets = {
  list: get('/v1/orgs/:orgId/envs/:envId/secrets', {
    summary: 'List the secrets of an environment, each with the ciphertext of its current value',
    query: Page,
    responses: { 200: Strict({ secrets: Type.Array(Secret), nextCursor: NextCursor }) },
  }),
  put: put('/v1/orgs/:orgId/envs/:envId/secrets/:name', {
    summary:
      'Create or change a secret. The call adds a version to the secret. In a protected environment, the call only makes a change request: nothing changes before admins approve it',
    body: Strict({ ciphertext: Ciphertext, expectedVersion: Type.Optional(ExpectedVersion) }),
    headers: changeNote,
    responses: { 200: One, 201: One, 202: Queued },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['secret.written', 'change_request.opened'],
  }),
  versions: get('/v1/orgs/:orgId/envs/:envId/secrets/:name/versions', {
    summary: 'List the versions of a secret, newest first',
    query: PageOf(limits.versionsDefault, limits.versionsMax),
    responses: {
      200: Strict({
        versions: Type.Array(SecretVersion),
        currentVersion: Version,
        // A server of an earlier release does not send it.
        keySinceVersion: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              'Number of the first version that is encrypted with the current key. Older versions cannot be restored',
          }),
        ),
        // A server of an earlier release does not send it.
        formerNames: Type.Optional({
          ...Nullable(Type.String()),
          description:
            'The former names of the secret, with digests of their versions, encrypted by the client that renamed it',
        }),
        nextCursor: NextCursor,
      }),
    },
  }),
  rename: post('/v1/orgs/:orgId/envs/:envId/secrets/:name/rename', {
    summary:
      'Rename a secret. The client encrypts the value again under the new name, and sends it as `ciphertext`. The secret keeps its versions and details',
    body: Strict({
      newName: SecretName,
      ciphertext: Ciphertext,
      formerNames: {
        ...SealedFormerNames,
        description:
          'The former names of the secret, which the client has encrypted. They include the name before this rename',
      },
      expectedVersion: {
        ...Version,
        description: 'The version that the caller read. If it is not the current version, the answer is 409',
      },
      details: Type.Optional({
        ...DetailsOfRename,
        description:
          'The description and tags, encrypted again under the new name. Required if the secret has a description or tags',
      }),
    }),
    responses: {
      200: Strict({
        secret: Secret,
        namedBy: Type.Array(NamedBy, {
          description:
            'Agents, sync bindings and open change requests that still use the former name, at most 100 of each kind',
        }),
      }),
    },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['secret.renamed'],
  }),
  restore: post('/v1/orgs/:orgId/envs/:envId/secrets/:name/restore', {
    summary:
      'Store the ciphertext of an earlier version as a new version. If the secret was renamed after this version, the caller encrypts the value again and sends it as `ciphertext`. In a protected environment, the call only makes a change request: nothing changes before admins approve it',
    body: Strict({
      version: { ...Version, description: 'Number of the version to restore' },
      expectedVersion: Type.Optional(ExpectedVersion),
      ciphertext: Type.Optional({
        ...Ciphertext,
        description: 'The value, encrypted again. Required if the version was encrypted under a former name',
      }),
    }),
    headers: changeNote,
    responses: { 200: Strict({ secret: Secret, restoredFrom: Version }), 202: Queued },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['secret.restored', 'change_request.opened'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId/secrets/:name', {
    summary:
      'Delete a secret and all its versions. With `keepFor`, you can restore the secret for the given time. In a protected environment, the call only makes a change request: nothing changes before admins approve it',
    query: Strict({ ...Expected.properties, keepFor: Type.Optional(KeepFor) }),
    body: Expected,
    headers: changeNote,
    responses: { 200: Strict({ ...Ok.properties, deletedSecret: Type.Optional(DeletedSecret) }), 202: Queued },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['secret.deleted', 'change_request.opened'],
  }),
}

export const deletedSecrets = {
  list: get('/v1/orgs/:orgId/envs/:envId/deleted-secrets', {
    summary:
      'List the deleted secrets that the server still keeps, latest deletion first. `ciphertext` is the last value. If the environment was re-keyed after the deletion, `ciphertext` is null, and you cannot restore the secret',
    query: Page,
    responses: { 200: Strict({ deletedSecrets: Type.Array(DeletedSecretWithCiphertext), nextCursor: NextCursor }) },
  }),
  restore: post('/v1/orgs/:orgId/envs/:envId/deleted-secrets/:secretId/restore', {
    summary:
      'Restore a deleted secret with its versions. The client decrypts the last value, encrypts it again, and sends it as `ciphertext` of a new version. In a protected environment, the call only makes a change request: nothing changes before admins approve it',
    body: Strict({ ciphertext: Ciphertext }),
    headers: changeNote,
    responses: { 200: One, 202: Queued },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['secret.undeleted', 'change_request.opened'],
  }),
  purge: del('/v1/orgs/:orgId/envs/:envId/deleted-secrets/:secretId', {
    summary:
      'Delete a deleted secret permanently, before the server does this at the end of `keepFor`. In a protected environment, the call only makes a change request: nothing changes before admins approve it',
    headers: changeNote,
    responses: { 200: Ok, 202: Queued },
    refuses: ['conflict'],
    audits: ['secret.purged', 'change_request.opened'],
  }),
}
