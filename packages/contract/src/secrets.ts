import { Type } from 'typebox'
import { del, get, post, put } from './endpoint.ts'
import { limits } from './limits.ts'
import {
  Ciphertext,
  ExpectedVersion,
  Id,
  Instant,
  NextCursor,
  Nullable,
  Ok,
  Page,
  SecretName,
  Strict,
  Version,
} from './schema.ts'

export const Secret = Strict({
  id: Id('secret'),
  environmentId: Id('environment'),
  name: SecretName,
  ciphertext: Type.String(),
  version: Version,
  createdAt: Instant,
  updatedAt: Instant,
})

const SecretVersion = Strict({
  version: Version,
  ciphertext: Type.String(),
  createdByType: Type.String(),
  createdById: Type.String(),
  restoredFromVersion: Nullable(Version),
  createdAt: Instant,
})

const One = Strict({ secret: Secret })
const Expected = Strict({ expectedVersion: Type.Optional(ExpectedVersion) })

export const secrets = {
  list: get('/v1/orgs/:orgId/envs/:envId/secrets', {
    summary: 'Secrets of an environment, with ciphertext',
    query: Page,
    responses: { 200: Strict({ secrets: Type.Array(Secret), nextCursor: NextCursor }) },
  }),
  put: put('/v1/orgs/:orgId/envs/:envId/secrets/:name', {
    summary: 'Create or update a secret; appends a version',
    body: Strict({ ciphertext: Ciphertext, expectedVersion: Type.Optional(ExpectedVersion) }),
    responses: { 200: One, 201: One },
    refuses: ['conflict'],
    audits: ['secret.written'],
  }),
  versions: get('/v1/orgs/:orgId/envs/:envId/secrets/:name/versions', {
    summary: 'Version history, newest first',
    query: Strict({
      cursor: Page.properties.cursor,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: limits.versionsMax,
          description: `${limits.versionsDefault} unless given`,
        }),
      ),
    }),
    responses: {
      200: Strict({ versions: Type.Array(SecretVersion), currentVersion: Version, nextCursor: NextCursor }),
    },
  }),
  restore: post('/v1/orgs/:orgId/envs/:envId/secrets/:name/restore', {
    summary: 'Replay a stored ciphertext as a new version; needs no key',
    body: Strict({ version: Version, expectedVersion: Type.Optional(ExpectedVersion) }),
    responses: { 200: Strict({ secret: Secret, restoredFrom: Version }) },
    refuses: ['conflict'],
    audits: ['secret.restored'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId/secrets/:name', {
    summary: 'Delete a secret and its whole history; expectedVersion as query parameter or in a body',
    query: Expected,
    body: Expected,
    responses: { 200: Ok },
    refuses: ['conflict'],
    audits: ['secret.deleted'],
  }),
}
