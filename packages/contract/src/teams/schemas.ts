import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

/** A team has no key. It says who shall hold the keys of its environments. */
export const Team = Strict({
  id: Id('team'),
  name: Type.String(),
  members: Type.Integer({ description: 'Number of people in the team' }),
  environments: Type.Integer({ description: 'Number of environments of the team' }),
  createdAt: Instant,
  updatedAt: Instant,
})

export const TeamMember = Strict({
  userId: Id('user'),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
})

export const TeamEnvironment = Strict({
  environmentId: Id('environment'),
  label: Type.String({ description: '`app/env` or `group:env`' }),
  held: Type.Boolean({ description: 'True if the caller has the key' }),
  missing: Nullable(
    Type.Integer({
      description:
        'Number of people in the team who should have the key and do not have it yet. null if the caller is not an admin',
    }),
  ),
  lockedOut: Type.Array(Id('user'), {
    description:
      'People of the team who are locked out, because their key was revoked or they lost it in a re-key. They get the key again only if somebody grants it to them. Empty if the caller is not an admin',
  }),
})

/** An environment whose key people lost. They may have kept a copy, so it should be re-keyed. */
export const LostKeys = Strict({
  environmentId: Id('environment'),
  label: Type.String({ description: '`app/env`, `app/env@branch` or `group:env`' }),
  userIds: Type.Array(Id('user')),
})

/** Ids in a body, each once. */
const ids = (kind: 'user' | 'environment' | 'team', maxItems: number) =>
  Type.Array(Id(kind), { minItems: 1, maxItems, uniqueItems: true })

export const TeamUserIds = ids('user', limits.teamMembersMax)
export const TeamEnvironmentIds = ids('environment', limits.teamEnvironmentsMax)
