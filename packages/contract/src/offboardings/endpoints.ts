import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { get, patch, post } from '../endpoint.ts'
import { Email, FreeText, Id, NextCursor, Nullable, Page, Strict } from '../schema.ts'
import { Offboarding, OffboardingPreview, OffboardingRow } from './schemas.ts'

const One = Strict({ offboarding: Offboarding })

const ConfirmEmail = Type.Optional({
  ...Email,
  description:
    'The e-mail address of the person, as a check that `userId` is the right person. If the address is wrong, the answer is 400',
})

/**
 * The offboarding of a person. Its start removes the person and revokes the credentials that they made, in one
 * transaction. Its rows are the remaining work of admins: environments to re-key, and values to rotate at their source.
 */
export const offboardings = {
  preview: get('/v1/orgs/:orgId/members/:userId/offboarding-preview', {
    summary:
      'Preview the offboarding of a person (their removal from the organization): list the environments that they can read, their credentials and their recovery share. The call changes nothing',
    responses: { 200: Strict({ preview: OffboardingPreview }) },
  }),
  list: get('/v1/orgs/:orgId/offboardings', {
    summary: 'List offboardings (removals of people from the organization), oldest first',
    query: Strict({
      ...Page.properties,
      status: Type.Optional(
        Type.Union([Type.Literal('running'), Type.Literal('finished')], {
          description: 'Only offboardings with this status. Default: all',
        }),
      ),
    }),
    responses: { 200: Strict({ offboardings: Type.Array(Offboarding), nextCursor: NextCursor }) },
  }),
  start: post('/v1/orgs/:orgId/offboardings', {
    summary:
      'Remove a member, revoke the service tokens and machine clients that they made, and list the remaining work. The call also works for a person who is no longer a member',
    body: Strict({ ...trusted, userId: Id('user'), confirmEmail: ConfirmEmail }),
    responses: { 201: One },
    refuses: ['conflict'],
    audits: [
      'offboarding.started',
      'member.removed',
      'kms_grant.revoked',
      'recovery.custodian_removed',
      'token.revoked',
      'machine_client.revoked',
      'agent.updated',
      'vault.key.revoked',
      'lease.revoked',
      'invite.revoked',
    ],
  }),
  get: get('/v1/orgs/:orgId/offboardings/:offboardingId', {
    summary:
      'Get an offboarding (the removal of a person), with the number of its rows (remaining tasks) and of those that are open',
    responses: { 200: One },
  }),
  rows: get('/v1/orgs/:orgId/offboardings/:offboardingId/rows', {
    summary:
      'List the rows of an offboarding. Each row is one task that remains: an environment to re-key, a value to replace at its source, or the person’s recovery share to replace',
    query: Page,
    responses: { 200: Strict({ rows: Type.Array(OffboardingRow), nextCursor: NextCursor }) },
  }),
  change: patch('/v1/orgs/:orgId/offboardings/:offboardingId/rows/:offboardingRowId', {
    summary:
      'Change a row (a remaining task) of an offboarding: mark it as done or not needed, add a note, or hand it to another admin',
    body: Strict({
      state: Type.Optional(
        Type.Union([Type.Literal('done'), Type.Literal('not_needed'), Type.Literal('waiting')], {
          description:
            'Send `done` only for a value that you replaced at its source. The server itself marks a re-key or a recovery share as done. `waiting` opens the row again',
        }),
      ),
      note: Type.Optional(Nullable({ ...FreeText, description: 'A note for other admins' })),
      assigneeId: Type.Optional({
        ...Nullable(Id('user')),
        description: 'The admin to whom you hand the row. null: nobody',
      }),
    }),
    responses: { 200: Strict({ row: OffboardingRow }) },
    refuses: ['conflict'],
    audits: ['offboarding.row_changed'],
  }),
  remind: post('/v1/orgs/:orgId/offboardings/:offboardingId/rows/:offboardingRowId/remind', {
    summary:
      'Remind an admin, by mail, of the row (the task) that was handed to them. You can do this once an hour for each row',
    responses: { 200: Strict({ row: OffboardingRow }) },
    refuses: ['conflict'],
    audits: ['offboarding.row_reminded'],
  }),
  finish: post('/v1/orgs/:orgId/offboardings/:offboardingId/finish', {
    summary: 'Finish an offboarding. If rows (remaining tasks) are still open, the body must have `acceptOpen`',
    body: Strict({
      acceptOpen: Type.Optional(
        Type.Literal(true, {
          description:
            'true: finish although rows are still open. Without this field, the answer is 409 if a row is open',
        }),
      ),
    }),
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['offboarding.finished'],
  }),
}
