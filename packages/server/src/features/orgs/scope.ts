import type { Sql } from '../../db/database.ts'
import {
  accessOf,
  type Caller,
  type Checked,
  narrowed,
  person,
  secondFactorNeeded,
  signedIn,
} from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo, isSecondFactorBehind, type Principal, type UserPrincipal } from '../../kernel/principal.ts'
import type { StoredOrg } from '../../model/organizations/table.ts'
import type { Role } from '../../model/people/memberships.ts'

export type Org = Checked<{ id: string }>

export interface InOrg extends Caller {
  org: Org
  role: Role
}

export const member = accessOf<InOrg, 'orgId'>(
  'member',
  'A caller who belongs to the organization: a member, a service token or a machine client',
  async (call, { orgId }) => {
    const { principal } = await signedIn.resolve(call, {})
    const role = await roleIn(call.db, principal, orgId)
    if (!role) throw fail('not_found', 'no such org')
    return { principal, org: { id: orgId } as Org, role }
  },
)

async function roleIn(db: Sql, principal: Principal, orgId: string): Promise<Role | undefined> {
  if (principal.type === 'user') {
    const membership = await findMembership(db, orgId, principal.id)
    if (membership?.mfaRequired && !isSecondFactorBehind(principal.session))
      throw fail('mfa_required', secondFactorNeeded)
    return membership?.role
  }
  if (principal.orgId !== orgId) return undefined
  return principal.type === 'm2m' ? 'admin' : principal.role
}

/** Finds the role of a member, and whether the organization requires a second factor. */
const findMembership = (db: Sql, orgId: string, userId: string) =>
  db.row<{ role: Role; mfaRequired: boolean }>(
    `select m.role, o.mfa_required from memberships m join organizations o on o.id = m.org_id
      where m.org_id = $1 and m.user_id = $2`,
    [orgId, userId],
  )

export const isAdmin = ({ role }: { role: Role }): boolean => role !== 'member'

export const admin = accessOf<InOrg, 'orgId'>(
  'admin',
  'An owner or admin of the organization, an admin service token, or a machine client',
  async (call, params) => {
    const scope = await member.resolve(call, params)
    if (!isAdmin(scope)) throw fail('forbidden', 'this needs the admin role')
    return scope
  },
)

/**
 * A token that is bound to an environment belongs to the application of that environment, and manages nothing else. If
 * a path names an application or an environment, `app` and `env` check this. Every other route of admins uses
 * `unbound`.
 */
export const unbound = <S extends InOrg, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed('unbound', 'The server refuses a service token that is bound to an environment', base, async (scope) => {
    if (boundTo(scope.principal) !== null) throw fail('forbidden', 'this token is bound to an environment')
    return scope
  })

/** True if only a person in person may call, so that a sentence about tokens would contradict this. */
export const refusesTokens = ({ words }: Pick<Access<object>, 'words'>): boolean =>
  'memberInPerson' in words || 'userAdmin' in words

/** Admits a member in person, for actions that a token cannot do for them. */
export const memberInPerson = accessOf<InOrg & { principal: UserPrincipal }, 'orgId'>(
  'memberInPerson',
  'A signed-in person who belongs to the organization. The server refuses service tokens and machine clients',
  async (call, params) => {
    const scope = await member.resolve(call, params)
    return { ...scope, ...(await person.resolve(call, {})) }
  },
)

/** Admits an admin in person, for actions for which a person must be responsible. */
export const userAdmin = accessOf<InOrg & { principal: UserPrincipal }, 'orgId'>(
  'userAdmin',
  'A signed-in person who is an owner or admin. The server refuses service tokens and machine clients',
  async (call, params) => {
    const scope = await admin.resolve(call, params)
    return { ...scope, ...(await person.resolve(call, {})) }
  },
)

/** Adds a row of the organization, by the id in the path. A row of another organization answers 404. */
export const within =
  <Key extends string, Param extends string, Row>(
    key: Key,
    param: Param,
    means: string,
    find: (db: Sql, org: Org, id: string, now: string) => Promise<Row | undefined>,
    noun: string = key,
  ) =>
  <S extends InOrg, N extends string>(base: Access<S, N>): Access<S & Record<Key, Row>, N | Param> =>
    narrowed(key, means, base, async (scope: S, { db, context }, params: Record<N | Param, string>) => {
      const row = await find(db, scope.org, params[param], context.now().toISOString())
      if (!row) throw fail('not_found', `no such ${noun}`)
      return { ...scope, [key]: row } as S & Record<Key, Row>
    })

export async function getOrg(db: Sql, org: Org): Promise<StoredOrg> {
  const row = await db.row<StoredOrg>(
    'select id, name, slug, created_at, updated_at from organizations where id = $1',
    [org.id],
  )
  if (!row) throw new Error('an organization in scope exists')
  return row
}
