import { Type } from 'typebox'
import { del, get, patch, post } from './endpoint.ts'
import { DisplayName, Email, Id, Instant, NextCursor, Nullable, Ok, Page, Role, Slug, Strict } from './schema.ts'

export const Organization = Strict({
  id: Id('organization'),
  name: Type.String(),
  slug: Type.String(),
  role: Type.Union([Role], { description: 'The caller’s role' }),
  createdAt: Instant,
  updatedAt: Instant,
})

export const Member = Strict({
  userId: Id('user'),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  role: Role,
  publicKeyJwk: Nullable(Type.String()),
})

export const Invite = Strict({
  id: Id('invitation'),
  email: Type.String(),
  role: Type.Union([Type.Literal('admin'), Type.Literal('member')]),
  invitedById: Type.String(),
  createdAt: Instant,
  expiresAt: Instant,
})

const One = Strict({ org: Organization })

export const orgs = {
  list: get('/v1/orgs', {
    summary: 'Organizations in the caller’s reach',
    query: Page,
    responses: { 200: Strict({ orgs: Type.Array(Organization), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs', {
    summary: 'Create an organization; the caller becomes its owner',
    body: Strict({ name: DisplayName, slug: Slug }),
    responses: { 201: One },
    refuses: ['forbidden', 'conflict'],
    audits: ['org.created'],
  }),
  get: get('/v1/orgs/:orgId', { summary: 'One organization and the caller’s role', responses: { 200: One } }),
  update: patch('/v1/orgs/:orgId', {
    summary: 'Rename an organization; its slug is fixed',
    body: Strict({ name: DisplayName }),
    responses: { 200: One },
    audits: ['org.updated'],
  }),
  members: get('/v1/orgs/:orgId/members', {
    summary: 'Members with their public keys',
    query: Page,
    responses: { 200: Strict({ members: Type.Array(Member), nextCursor: NextCursor }) },
  }),
}

export const members = {
  update: patch('/v1/orgs/:orgId/members/:userId', {
    summary: 'Change a member’s role; only an owner makes or unmakes owners, and the last owner stays one',
    body: Strict({ role: Role }),
    responses: { 200: Strict({ member: Member }) },
    refuses: ['conflict'],
    audits: ['member.role_changed'],
  }),
  remove: del('/v1/orgs/:orgId/members/:userId', {
    summary: 'Remove a member with every key grant; anyone may leave, but the last owner stays',
    responses: { 200: Ok },
    refuses: ['conflict'],
    audits: ['member.removed', 'kms_grant.revoked', 'recovery.custodian_removed'],
  }),
}

const MfaPolicy = Strict({
  required: Type.Boolean(),
  configured: Type.Boolean({ description: 'false where this server has no way to sign people in' }),
})

export const mfaPolicy = {
  get: get('/v1/orgs/:orgId/mfa-policy', {
    summary: 'Whether members need a second factor here',
    responses: { 200: MfaPolicy },
  }),
  update: patch('/v1/orgs/:orgId/mfa-policy', {
    summary: 'Ask every member for a second factor, or no longer',
    body: Strict({ required: Type.Boolean() }),
    responses: { 200: MfaPolicy },
    refuses: ['mfa_required', 'conflict'],
    audits: ['org.mfa_policy_updated'],
  }),
}

export const invites = {
  list: get('/v1/orgs/:orgId/invites', {
    summary: 'Pending invitations',
    query: Page,
    responses: { 200: Strict({ invites: Type.Array(Invite), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/invites', {
    summary: 'Invite a person by e-mail, who accepts by the link in the mail, or signed in with that verified address',
    body: Strict({
      email: Email,
      role: Type.Optional(
        Type.Union([Type.Literal('member'), Type.Literal('admin')], { description: 'member unless given' }),
      ),
    }),
    responses: { 201: Strict({ invite: Invite }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['invite.created'],
  }),
  delete: del('/v1/orgs/:orgId/invites/:inviteId', {
    summary: 'Revoke a pending invitation',
    responses: { 200: Ok },
    audits: ['invite.revoked'],
  }),
}
