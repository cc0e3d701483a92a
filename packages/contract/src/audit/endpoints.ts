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
  action: Type.Optional({ ...oneOf(names), description: 'Only entries with this action' }),
  resourceType: Type.Optional({ ...oneOf(resourceTypes), description: 'Only entries about objects of this type' }),
  resourceId: Type.Optional(Type.String({ ...Id, description: 'Only entries about the object with this id' })),
  actorId: Type.Optional(
    Type.String({ ...Id, description: 'Only entries about actions of this person, service token or machine client' }),
  ),
  requestId: Type.Optional(
    Type.String({ ...Id, description: 'Only entries of the request whose answer had this `x-request-id`' }),
  ),
  environmentId: Type.Optional(
    Type.String({ ...Id, description: 'Only entries about this environment or its content' }),
  ),
  applicationId: Type.Optional(
    Type.String({
      ...Id,
      description: 'Only entries about this application, its current environments and branches, or their content',
    }),
  ),
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.displayNameCharacters,
      pattern: displayNamePattern,
      description:
        'Only entries with this text in the name of their object or actor, or in their metadata. The search ignores upper and lower case',
    }),
  ),
  since: Type.Optional({ ...GivenInstant, description: 'Only entries at or after this time, in RFC 3339' }),
  until: Type.Optional({ ...GivenInstant, description: 'Only entries before this time, in RFC 3339' }),
}

/** The number of entries in each group, from one instant on and before another. */
const Span = Strict({
  since: Instant,
  until: Instant,
  counts: Strict(Object.fromEntries(auditGroups.map((group) => [group, Count])) as Record<AuditGroup, typeof Count>),
})

export const audit = {
  list: get('/v1/orgs/:orgId/audit', {
    summary: 'List the audit log, newest first',
    query: Strict({ ...PageOf(limits.auditDefault, limits.auditMax).properties, ...filter }),
    responses: {
      200: Strict({
        entries: Type.Array(AuditEntry),
        names: Type.Record(Type.String(), Type.String(), {
          description: 'Current names of the objects in the entries, by id. Objects without a name are left out',
        }),
        environments: Type.Record(Type.String(), AuditEnvironment, {
          description:
            'The environments of the entries, by id, with their current names and application or group. Deleted environments are left out',
        }),
        nextCursor: NextCursor,
        searchedUntil: {
          ...Nullable(Instant),
          description:
            'A search stops after a second. Entries before this time have not been searched yet: continue with `nextCursor`. null if the page is full or there are no more entries',
        },
      }),
    },
  }),
  timeline: get('/v1/orgs/:orgId/audit/timeline', {
    summary:
      'Count the audit entries in each hour or day (UTC), separately for each group of actions, for example all actions about secrets. If the period is at most 48 hours long, the server counts by hour. For a longer period, it counts by day',
    query: Strict({
      ...filter,
      since: Type.Optional({
        ...GivenInstant,
        description: `Only entries at or after this time, at most ${limits.timelineDaysMax} days before \`until\`. Default: the last ${limits.timelineDaysDefault} days`,
      }),
    }),
    responses: {
      200: Strict({
        step: Type.Union([Type.Literal('hour'), Type.Literal('day')], {
          description: `Hours if the range has at most ${limits.timelineHoursMax} hours, and days otherwise`,
        }),
        spans: Type.Array(Span, {
          description:
            'The counts of each hour or day, oldest first, without gaps. The first and the last one cover only the part inside the range',
        }),
        countedUntil: {
          ...Nullable(Instant),
          description:
            'A count begins with the newest entries, and stops after some seconds. Entries before this time are not counted. null if all entries are counted',
        },
      }),
    },
  }),
}
