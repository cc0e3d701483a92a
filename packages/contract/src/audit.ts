import { Type } from 'typebox'
import { auditActions } from './audit-actions.ts'
import { get } from './endpoint.ts'
import { limits } from './limits.ts'
import { displayNamePattern } from './patterns.ts'
import { GivenInstant, Id, Instant, NextCursor, Nullable, Page, Strict } from './schema.ts'

export const AuditEntry = Strict({
  id: Id('audit'),
  action: Type.String(),
  actorType: Type.String(),
  actorId: Nullable(Type.String()),
  resourceType: Type.String(),
  resourceId: Nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  ipAddress: Nullable(Type.String()),
  userAgent: Nullable(Type.String()),
  requestId: Nullable(Type.String()),
  createdAt: Instant,
})

const names = Object.keys(auditActions)
const resourceTypes = [...new Set(Object.values(auditActions).map(({ about }) => about))]
const oneOf = (values: string[]) => Type.String({ pattern: `^(?:${values.join('|').replaceAll('.', '\\.')})$` })

export const audit = {
  list: get('/v1/orgs/:orgId/audit', {
    summary: 'The audit trail, newest first',
    query: Strict({
      cursor: Page.properties.cursor,
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: limits.auditMax, description: `${limits.auditDefault} unless given` }),
      ),
      action: Type.Optional(oneOf(names)),
      resourceType: Type.Optional(oneOf(resourceTypes)),
      resourceId: Type.Optional(Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_]+$' })),
      actorId: Type.Optional(Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_]+$' })),
      requestId: Type.Optional(
        Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_]+$', description: 'the `x-request-id` of an answer' }),
      ),
      text: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: limits.displayNameCharacters,
          pattern: displayNamePattern,
          description:
            'in the name of what an entry is about, of who did it, or in what it tells; in either case of letters',
        }),
      ),
      since: Type.Optional({ ...GivenInstant, description: 'RFC 3339: entries of this instant and later ones' }),
      until: Type.Optional({ ...GivenInstant, description: 'RFC 3339: entries before this instant' }),
    }),
    responses: {
      200: Strict({
        entries: Type.Array(AuditEntry),
        names: Type.Record(Type.String(), Type.String(), {
          description: 'names by id, as they are now, of those in the entries that still have one',
        }),
        nextCursor: NextCursor,
      }),
    },
  }),
}
