import { limits } from '@skerry/contract/limits'
import { fail } from '../kernel/errors.ts'
import { isSecondFactorBehind, type Principal, type UserPrincipal } from '../kernel/principal.ts'
import type { RateName } from '../kernel/rate-limits.ts'
import type { Access, Call } from './route.ts'
import {
  type App,
  type Change,
  type Env,
  findApp,
  findChange,
  findEnv,
  findGrant,
  findGroup,
  findHoneyToken,
  findInvite,
  findMembership,
  findToken,
  type Grant,
  type Group,
  type HoneyToken,
  type Invite,
  type Org,
  type Role,
  type Token,
  takesIn,
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

/** Any valid credential, even of a person whose second factor is still to be entered. */
export const authenticated: Access<Caller> = {
  name: 'authenticated',
  resolve: async ({ principal }) => {
    if (!principal) throw fail('unauthorized', 'send an Authorization header')
    return { principal }
  },
}

/**
 * Any valid credential. A mail alone signs nobody in who has a second factor here: until it is entered, once, the session
 * is good for entering it. An external issuer asks for its own before it lets anyone come back.
 */
export const signedIn: Access<Caller> = {
  name: 'signedIn',
  resolve: async (call, params) => {
    const scope = await authenticated.resolve(call, params)
    if (scope.principal.type === 'user' && !call.context.oidc && isHalfSignedIn(scope.principal.session))
      throw fail('mfa_required', 'enter your second factor first')
    return scope
  },
}

const isHalfSignedIn = ({ kind, secondFactor, mfaAt }: UserPrincipal['session']): boolean =>
  kind === 'browser' && secondFactor && mfaAt === null

/** A signed-in person: no machine, no token. */
export const person: Access<{ principal: UserPrincipal }> = {
  name: 'person',
  resolve: async (call, params) => {
    const { principal } = await signedIn.resolve(call, params)
    if (principal.type !== 'user') throw fail('forbidden', 'only a signed-in person may do this')
    return { principal }
  },
}

/** A person at a browser. A CLI session acts for that person too, but cannot approve others of its kind. */
export const browser: Access<{ principal: UserPrincipal }> = {
  name: 'browser',
  resolve: async (call, params) => {
    const scope = await person.resolve(call, params)
    if (scope.principal.session.kind !== 'browser') throw fail('forbidden', 'this needs a browser session')
    return scope
  },
}

/** A person at a browser whose second factor may still have to be entered. */
export const awaitingSecondFactor: Access<{ principal: UserPrincipal }> = {
  name: 'awaitingSecondFactor',
  resolve: async (call, params) => {
    const { principal } = await authenticated.resolve(call, params)
    if (principal.type !== 'user' || principal.session.kind !== 'browser')
      throw fail('forbidden', 'this needs a browser session')
    return { principal }
  },
}

/** Whoever has a second factor has entered it within the last ten minutes. */
export const fresh = <S extends Caller, N extends string>(base: Access<S, N>): Access<S, N> => ({
  name: `fresh(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    if (scope.principal.type === 'user' && !isFresh(scope.principal.session, call.context.now()))
      throw fail('mfa_required', 'enter your second factor again, then repeat this')
    return scope
  },
})

const isFresh = ({ secondFactor, mfaAt }: UserPrincipal['session'], now: Date): boolean =>
  !secondFactor || (mfaAt !== null && now.getTime() - Date.parse(mfaAt) <= limits.mfaFreshSeconds * 1000)

/** What a person is told who has entered no second factor, where an organization asks for one. */
export const secondFactorNeeded =
  'this organization asks for a second factor: enroll one, or sign in with the one that you have, then repeat this'

export const member: Access<InOrg, 'orgId'> = {
  name: 'member',
  resolve: async (call, { orgId }) => {
    const { principal } = await signedIn.resolve(call, {})
    const role = await roleIn(call.db, principal, orgId)
    if (!role) throw fail('not_found', 'no such org')
    return { principal, org: { id: orgId } as Org, role }
  },
}

async function roleIn(db: Parameters<typeof findMembership>[0], principal: Principal, orgId: string) {
  if (principal.type === 'user') {
    const membership = await findMembership(db, orgId, principal.id)
    if (membership?.mfaRequired && !isSecondFactorBehind(principal.session))
      throw fail('mfa_required', secondFactorNeeded)
    return membership?.role
  }
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

/** An admin in person: what one is asked to stand for, no token or machine client can. */
export const userAdmin: Access<InOrg & { principal: UserPrincipal }, 'orgId'> = {
  name: 'userAdmin',
  resolve: async (call, params) => {
    const scope = await admin.resolve(call, params)
    return { ...scope, ...(await person.resolve(call, {})) }
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
    find: (db: Parameters<typeof findApp>[0], org: Org, id: string, now: string) => Promise<Row | undefined>,
    noun: string = key,
  ) =>
  <S extends InOrg, N extends string>(base: Access<S, N>): Access<S & Record<Key, Row>, N | Param> => ({
    name: `${key}(${base.name})`,
    resolve: async (call, params) => {
      const scope = await base.resolve(call, params)
      const row = await find(call.db, scope.org, params[param], call.context.now().toISOString())
      if (!row) throw fail('not_found', `no such ${noun}`)
      return { ...scope, [key]: row } as S & Record<Key, Row>
    },
  })

export const app = within<'app', 'appId', App>('app', 'appId', findApp)
export const group = within<'group', 'groupId', Group>('group', 'groupId', findGroup)
export const token = within<'token', 'tokenId', Token>('token', 'tokenId', findToken)
export const honeyToken = within<'honeyToken', 'honeyTokenId', HoneyToken>(
  'honeyToken',
  'honeyTokenId',
  findHoneyToken,
  'honey token',
)
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

/** A bound token’s grant on a group counts for as long as the group is composed into what the token is bound to. */
async function checkGrant({ db }: Call, { principal, env }: InEnv): Promise<void> {
  if (!env.wrappedDek) throw fail('forbidden', 'you hold no key grant on this environment')
  const boundTo = principal.type === 'service_token' ? principal.environmentId : null
  if (boundTo !== null && boundTo !== env.id && !(await takesIn(db, boundTo, env)))
    throw fail('forbidden', 'this token is bound to another environment, and this one is no part of that')
}

/** A holder of a key grant on the environment: reading and writing secrets. */
export const grantee = <S extends InEnv, N extends string>(base: Access<S, N>): Access<S, N> => ({
  name: `grantee(${base.name})`,
  resolve: async (call, params) => {
    const scope = await keyed(base).resolve(call, params)
    await checkGrant(call, scope)
    return scope
  },
})

/** Replaying or deleting what is stored needs no key, so a machine client may do that too. */
export const granteeOrMachine = <S extends InEnv, N extends string>(base: Access<S, N>): Access<S, N> => ({
  name: `granteeOrMachine(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    if (scope.principal.type !== 'm2m') await checkGrant(call, scope)
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

/** A change request. One of an environment that has expired is gone with it, swept or not. */
export const change = <S extends InOrg, N extends string>(
  base: Access<S, N>,
): Access<S & { change: Change }, N | 'changeRequestId'> => ({
  name: `change(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    const now = call.context.now().toISOString()
    const found = await findChange(call.db, scope.org, params.changeRequestId, scope.principal, now)
    if (!found) throw fail('not_found', 'no such change request')
    return { ...scope, change: found }
  },
})

/** Whoever proposed the change, be it a person, a token or a machine client; or an admin. */
export const proposerOrAdmin = <S extends InOrg & { change: Change }, N extends string>(
  base: Access<S, N>,
): Access<S, N> => ({
  name: `proposerOrAdmin(${base.name})`,
  resolve: async (call, params) => {
    const scope = await base.resolve(call, params)
    if (!isAdmin(scope) && !isProposer(scope.principal, scope.change))
      throw fail('forbidden', 'this needs the admin role, or to be your own change request')
    return scope
  },
})

export const isProposer = ({ type, id }: Principal, change: Change): boolean =>
  type === change.proposedByType && id === change.proposedById
