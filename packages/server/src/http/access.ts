import { fail } from './errors.ts'
import type { RateName } from './limits.ts'
import type { Principal, UserPrincipal } from './principal.ts'
import type { Access } from './route.ts'
import {
  type App,
  type Env,
  findApp,
  findEnv,
  findGrant,
  findGroup,
  findInvite,
  findMembership,
  findToken,
  type Grant,
  type Group,
  type Invite,
  type Org,
  type Role,
  type Token,
} from './scope.ts'

// A dozen parsers, and the ways to combine them. Each either gives the handler what it may touch, or refuses; another
// tenant's object does not exist here.

export interface Caller {
  principal: Principal
}
export interface InOrg extends Caller {
  org: Org
  role: Role
}

/** No credential needed. The reason stands beside the route. */
export const open = (reason: string): Access<object> => ({ name: `open: ${reason}`, resolve: async () => ({}) })

/** Takes one request from the caller's address. */
export const limited = <S extends object>(rate: RateName, base: Access<S>): Access<S> => ({
  name: `limited(${rate}, ${base.name})`,
  resolve: async (call, params) => {
    call.context.limiter.take(rate, call.ipAddress)
    return base.resolve(call, params)
  },
})

export const anyone: Access<Caller> = {
  name: 'anyone',
  resolve: async ({ principal }) => {
    if (!principal) throw fail('unauthorized', 'send an Authorization header')
    return { principal }
  },
}

/** A signed-in person: no machine, no token. */
export const person: Access<{ principal: UserPrincipal }> = {
  name: 'person',
  resolve: async (call, params) => {
    const { principal } = await anyone.resolve(call, params)
    if (principal.type !== 'user') throw fail('forbidden', 'only a signed-in person may do this')
    return { principal }
  },
}

export const member: Access<InOrg, 'orgId'> = {
  name: 'member',
  resolve: async (call, { orgId }) => {
    const { principal } = await anyone.resolve(call, {})
    const role = await roleIn(call.db, principal, orgId)
    if (!role) throw fail('not_found', 'no such org')
    return { principal, org: { id: orgId } as Org, role }
  },
}

async function roleIn(db: Parameters<typeof findMembership>[0], principal: Principal, orgId: string) {
  if (principal.type === 'user') return findMembership(db, orgId, principal.id)
  if (principal.orgId !== orgId) return undefined
  return principal.type === 'm2m' ? 'admin' : principal.role
}

const isAdmin = ({ role }: { role: Role }): boolean => role !== 'member'

export const admin: Access<InOrg, 'orgId'> = {
  name: 'admin',
  resolve: async (call, params) => {
    const scope = await member.resolve(call, params)
    if (!isAdmin(scope)) throw fail('forbidden', 'this needs the admin role')
    return scope
  },
}

/** Someone who can hold a key, which a machine client cannot. */
export const keyed = <S extends Caller, N extends string>(base: Access<S, N>): Access<S, N> => ({
  name: `keyed(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    if (scope.principal.type === 'm2m')
      throw fail('forbidden', 'a machine client holds no key; use a service token that it made')
    return scope
  },
})

const within =
  <Key extends string, Param extends string, Row>(
    key: Key,
    param: Param,
    find: (db: Parameters<typeof findApp>[0], org: Org, id: string) => Promise<Row | undefined>,
  ) =>
  <S extends InOrg, N extends string>(base: Access<S, N>): Access<S & Record<Key, Row>, N | Param> => ({
    name: `${key}(${base.name})`,
    resolve: async (call, params) => {
      const scope = await base.resolve(call, params)
      const row = await find(call.db, scope.org, params[param])
      if (!row) throw fail('not_found', `no such ${key}`)
      return { ...scope, [key]: row } as S & Record<Key, Row>
    },
  })

export const app = within<'app', 'appId', App>('app', 'appId', findApp)
export const group = within<'group', 'groupId', Group>('group', 'groupId', findGroup)
export const token = within<'token', 'tokenId', Token>('token', 'tokenId', findToken)
export const invite = within<'invite', 'inviteId', Invite>('invite', 'inviteId', findInvite)

export interface InEnv extends InOrg {
  env: Env
}

/** An environment, together with the caller's own key grant. One that has expired is gone, swept or not. */
export const env = <S extends InOrg, N extends string>(base: Access<S, N>): Access<S & InEnv, N | 'envId'> => ({
  name: `env(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    const found = await findEnv(call.db, scope.org, params.envId, scope.principal, call.context.now().toISOString())
    if (!found) throw fail('not_found', 'no such env')
    return { ...scope, env: found }
  },
})

/** A key grant of the environment. */
export const grant = <S extends InEnv, N extends string>(
  base: Access<S, N>,
): Access<S & { grant: Grant }, N | 'grantId'> => ({
  name: `grant(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    const found = await findGrant(call.db, scope.env, params.grantId)
    if (!found) throw fail('not_found', 'no such grant')
    return { ...scope, grant: found }
  },
})

/** A holder of a key grant on the environment: reading and writing secrets. */
export const grantee = <S extends InEnv, N extends string>(base: Access<S, N>): Access<S, N> => ({
  name: `grantee(${base.name})`,
  resolve: async (call, params) => {
    const scope = await keyed(base).resolve(call, params)
    if (!scope.env.wrappedDek) throw fail('forbidden', 'you hold no key grant on this environment')
    return scope
  },
})

/** Replaying or deleting what is stored needs no key, so a machine client may do that too. */
export const granteeOrMachine = <S extends InEnv, N extends string>(base: Access<S, N>): Access<S, N> => ({
  name: `granteeOrMachine(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    if (scope.principal.type !== 'm2m' && !scope.env.wrappedDek)
      throw fail('forbidden', 'you hold no key grant on this environment')
    return scope
  },
})

/** An admin; or, where the environment is a branch, whoever holds a grant on it. */
export const branchHolderOrAdmin = <S extends InEnv, N extends string>(base: Access<S, N>): Access<S, N> => ({
  name: `branchHolderOrAdmin(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    const holdsBranch = scope.env.parentEnvironmentId !== null && scope.env.wrappedDek !== null
    if (!isAdmin(scope) && !holdsBranch)
      throw fail('forbidden', 'this needs the admin role, or a key grant on a branch')
    return scope
  },
})
