import { Type } from 'typebox'
import { get, patch, post } from '../endpoint.ts'
import { Member } from '../members/schemas.ts'
import { DisplayName, NextCursor, Page, Slug, Strict } from '../schema.ts'
import { Organization } from './schemas.ts'

const One = Strict({ org: Organization })

export const orgs = {
  list: get('/v1/orgs', {
    summary: 'List the caller’s organizations',
    query: Page,
    responses: { 200: Strict({ orgs: Type.Array(Organization), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs', {
    summary: 'Create an organization. The caller becomes its owner',
    body: Strict({ name: DisplayName, slug: Slug }),
    responses: { 201: One },
    refuses: ['forbidden', 'conflict'],
    audits: ['org.created'],
  }),
  get: get('/v1/orgs/:orgId', { summary: 'Get an organization and the caller’s role', responses: { 200: One } }),
  update: patch('/v1/orgs/:orgId', {
    summary: 'Rename an organization. Its slug does not change',
    body: Strict({ name: DisplayName }),
    responses: { 200: One },
    audits: ['org.updated'],
  }),
  members: get('/v1/orgs/:orgId/members', {
    summary: 'List members with their public keys',
    query: Page,
    responses: { 200: Strict({ members: Type.Array(Member), nextCursor: NextCursor }) },
  }),
}

const MfaPolicy = Strict({
  required: Type.Boolean(),
  configured: Type.Boolean({ description: 'False if this server cannot sign people in, because it has no server key' }),
})

export const mfaPolicy = {
  get: get('/v1/orgs/:orgId/mfa-policy', {
    summary: 'Show whether the organization requires a second factor of its members',
    responses: { 200: MfaPolicy },
  }),
  update: patch('/v1/orgs/:orgId/mfa-policy', {
    summary: 'Require that every member has a second factor, or end this requirement',
    body: Strict({ required: Type.Boolean({ description: 'True if every member must have a second factor' }) }),
    responses: { 200: MfaPolicy },
    refuses: ['mfa_required', 'conflict'],
    audits: ['org.mfa_policy_updated'],
  }),
}
