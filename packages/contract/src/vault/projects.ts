import { Type } from 'typebox'
import { del, get, patch, post } from '../endpoint.ts'
import { DisplayName, Instant, NextCursor, Nullable, Ok, Page, Strict } from '../schema.ts'
import { vaultProjectStatuses } from './facts.ts'
import {
  ConnectionsQuery,
  NewVaultDisplay,
  oneOf,
  VaultConnection,
  VaultConnectionPage,
  VaultErased,
  VaultExecutor,
  VaultKey,
  VaultProject,
} from './schemas.ts'

const oneProject = Strict({ project: VaultProject })

/** A product whose users connect their accounts. Its admins manage it here. */
export const vaultProjects = {
  list: get('/v1/orgs/:orgId/vault/projects', {
    summary: 'List vault projects',
    query: Page,
    responses: { 200: Strict({ projects: Type.Array(VaultProject), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/vault/projects', {
    summary:
      'Make a vault project. A project has the settings, keys and connections of one product, whose users connect accounts',
    body: Strict({ name: DisplayName, display: Type.Optional(NewVaultDisplay) }),
    responses: { 201: oneProject },
    refuses: ['quota_exceeded'],
    audits: ['vault.project.created'],
  }),
  get: get('/v1/orgs/:orgId/vault/projects/:projectId', {
    summary: 'Get a vault project, its platform keys and its active executor',
    responses: {
      200: Strict({ project: VaultProject, keys: Type.Array(VaultKey), executor: Nullable(VaultExecutor) }),
    },
  }),
  update: patch('/v1/orgs/:orgId/vault/projects/:projectId', {
    summary:
      'Change a vault project. While a project is disabled, its executor gets no credentials, and nobody can make Connect links',
    body: Strict({
      name: Type.Optional(DisplayName),
      display: Type.Optional(NewVaultDisplay),
      status: Type.Optional(oneOf(vaultProjectStatuses)),
    }),
    responses: { 200: oneProject },
    audits: ['vault.project.updated'],
  }),
  createKey: post('/v1/orgs/:orgId/vault/projects/:projectId/keys', {
    summary:
      'Make a platform key, with which the backend of a product makes links and manages connections. The key cannot read a credential. The server shows the key only in this answer',
    body: Strict({ name: DisplayName }),
    responses: { 201: Strict({ key: VaultKey, secret: Type.String({ description: 'The platform key: `skv_...`' }) }) },
    audits: ['vault.key.created'],
  }),
  revokeKey: del('/v1/orgs/:orgId/vault/projects/:projectId/keys/:vaultKeyId', {
    summary: 'Revoke a platform key at once. You can repeat the call',
    responses: { 200: Ok },
    audits: ['vault.key.revoked'],
  }),
  createRegistrationCode: post('/v1/orgs/:orgId/vault/projects/:projectId/registration-codes', {
    summary:
      'Make the code with which a vault executor registers (`vaultExecutor.register`). The code works once, within 10 minutes',
    responses: {
      201: Strict({ code: Type.String({ description: 'The registration code: `vrc_...`' }), expiresAt: Instant }),
    },
    audits: ['vault.registration_code.created'],
  }),
  executor: get('/v1/orgs/:orgId/vault/projects/:projectId/executor', {
    summary:
      'Get the active executor of a project: the program that can decrypt the credentials. Without an active executor, `executor` is null',
    responses: { 200: Strict({ executor: Nullable(VaultExecutor) }) },
  }),
  disableExecutor: post('/v1/orgs/:orgId/vault/projects/:projectId/executor/disable', {
    summary:
      'Disable the active executor. The server then refuses it, and nobody can use the connected accounts. To use them again, register a new executor that has the private keys of the old one',
    responses: { 200: Strict({ executor: VaultExecutor }) },
    refuses: ['conflict'],
    audits: ['vault.executor.disabled'],
  }),
  connections: get('/v1/orgs/:orgId/vault/projects/:projectId/connections', {
    summary:
      'List the vault connections of a project (accounts that users of the product connected), oldest first. By default, a page has 100 connections',
    query: ConnectionsQuery,
    responses: { 200: VaultConnectionPage },
  }),
  revokeConnection: post('/v1/orgs/:orgId/vault/projects/:projectId/connections/:vaultConnectionId/revoke', {
    summary:
      'Revoke a vault connection, and delete every revision of its credentials. The product can then no longer use the account. You can repeat the call',
    responses: { 200: Strict({ connection: VaultConnection }) },
    audits: ['vault.connection.revoked'],
  }),
  eraseUser: del('/v1/orgs/:orgId/vault/projects/:projectId/users/:userRef', {
    summary:
      'Delete all data of one user of the product: connections, credentials, links and webhook deliveries. You can repeat the call',
    responses: { 200: VaultErased },
    audits: ['vault.user.erased'],
  }),
}
