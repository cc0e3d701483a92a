import { Type } from 'typebox'
import { type AuditGroup, auditGroups } from '../action.ts'
import { auditActions } from '../actions.ts'
import { get } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { displayNamePattern } from '../patterns.ts'
import { GivenInstant, Instant, NextCursor, Nullable, PageOf, Strict } from '../schema.ts'
import { AuditEntry, AuditEnvironment } from './schemas.ts'

const Count = Type.Integer({ minimum: 0 })

const names = Object.keys(auditActions)

const resourceTypes = [...new Set(Object.values(auditActions).map(({ about }) => about))]

const oneOf = (values: string[]) => Type.String({ pattern: `^(?:${values.join('|').replaceAll('.', '\\.')})$` })

const Id = { maxLength: 64, pattern: '^[A-Za-z0-9_]+$' } as const

/** Filters for entries. An entry must match all of them. */
const filter = {
  action: Type.Optional(oneOf(names)),
  resourceType: Type.Optional(oneOf(resourceTypes)),
  resourceId: Type.Optional(Type.String(Id)),
  actorId: Type.Optional(Type.String(Id)),
  requestId: Type.Optional(Type.String({ ...Id, description: 'the `x-request-id` of an answer' })),
  environmentId: Type.Optional(Type.String({ ...Id, description: 'about this environment or something in it' })),
  applicationId: Type.Optional(
    Type.String({
      ...Id,
      description: 'about this application, its present environments and branches, or something in them',
    }),
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
}

/** The number of entries in each group, from one instant on and before another. */
const Span = Strict({
  since: Instant,
  until: Instant,
  counts: Strict(Object.fromEntries(auditGroups.map((group) => [group, Count])) as Record<AuditGroup, typeof Count>),
})

export const audit = {
  list: get('/v1/orgs/:orgId/audit', {
    summary: 'The audit trail, newest first',
    query: Strict({ ...PageOf(limits.auditDefault, limits.auditMax).properties, ...filter }),
    responses: {
      200: Strict({
        entries: Type.Array(AuditEntry),
        names: Type.Record(Type.String(), Type.String(), {
          description: 'names by id, as they are now, of those in the entries that still have one',
        }),
        environments: Type.Record(Type.String(), AuditEnvironment, {
          description:
            'the environments that entries are about, or name in `metadata.environmentId`, by id: present names, with application or group, without deleted environments',
        }),
        nextCursor: NextCursor,
        searchedUntil: {
          ...Nullable(Instant),
          description:
            'a search that finds little stops after a second: entries before this instant have yet to be searched, from `nextCursor` on; null where the page is full or there are no more',
        },
      }),
    },
  }),
  timeline: get('/v1/orgs/:orgId/audit/timeline', {
    summary: 'How many entries there are in each hour or day of UTC, by groups of what they are about',
    query: Strict({
      ...filter,
      since: Type.Optional({
        ...GivenInstant,
        description: `the last ${limits.timelineDaysDefault} days unless given; at most ${limits.timelineDaysMax} days before \`until\``,
      }),
    }),
    responses: {
      200: Strict({
        step: Type.Union([Type.Literal('hour'), Type.Literal('day')], {
          description: `hours where the whole takes at most ${limits.timelineHoursMax} of them`,
        }),
        spans: Type.Array(Span, {
          description: 'oldest first, without gaps; the first and the last are cut to the range',
        }),
        countedUntil: {
          ...Nullable(Instant),
          description:
            'a count stops after some seconds, the newest entries first: those before this instant are not counted; null where all are',
        },
      }),
    },
  }),
}
