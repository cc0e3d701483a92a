import type { Environment } from '@skerry/contract/envs/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { type Checked, checkKeyed, narrowed, type Words, withoutClients } from '../../http/access.ts'
import type { Access, Call } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo } from '../../kernel/principal.ts'
import { environmentColumns, notExpired, type Protection, protectionColumn } from '../../model/environments/table.ts'
import { ownGrant } from '../../model/grants/table.ts'
import { type InOrg, isAdmin, type Org, refusesTokens } from '../orgs/scope.ts'

/** `wrappedDek` is null if the caller holds no grant. `protection` is null if the environment is not protected. */
export type Env = Checked<
  Static<typeof Environment> & { orgId: string; wrappedDek: string | null; protection: Protection | null }
>

export interface InEnv extends InOrg {
  env: Env
}

export const findEnv = (
  db: Sql,
  org: Pick<Org, 'id'>,
  envId: string,
  principal: { type: string; id: string },
  now: string,
) =>
  db.row<Env>(
    `select e.org_id, ${environmentColumns}, k.wrapped_dek, ${protectionColumn}
       from environments e
       left join key_grants k on ${ownGrant('$3', '$4', '$5')}
      where e.org_id = $1 and e.id = $2 and ${notExpired('$5')}`,
    [org.id, envId, principal.type, principal.id, now],
  )

/** Finds the environment that a body names. Answers 404 for a missing one and for one of another organization. */
export async function findEnvOfBody(...named: Parameters<typeof findEnv>): Promise<Env> {
  const found = await findEnv(...named)
  if (!found) throw fail('not_found', 'body.environmentId: no such env')
  return found
}

/** True if `environments b`, to which a token is bound, and `environments e` are of the same application. */
const isOfSameApp = 'b.application_id = e.application_id'

/** True if `e` is of a group that is composed into an environment of that application. */
const isComposedThere = `exists (
  select from compositions c join environments o on o.org_id = c.org_id and o.id = c.environment_id
   where c.org_id = e.org_id and c.group_id = e.group_id and o.application_id = b.application_id)`

/** Filters `environments e`: an unbound caller gets all, a bound token those of its application and composed groups. */
export const inReachOf = (bound: `$${number}`) => `(${bound}::text is null or exists (
  select from environments b where b.org_id = e.org_id and b.id = ${bound} and (${isOfSameApp} or ${isComposedThere})))`

/** How a bound token relates to an environment: `own` is in its application, `composed` in a group composed there. */
const reachOf = async (db: Sql, bound: string, env: Pick<Env, 'orgId' | 'id'>) =>
  (await db.row<{ own: boolean; composed: boolean }>(
    `select coalesce(${isOfSameApp}, false) as own, ${isComposedThere} as composed
       from environments e join environments b on b.org_id = e.org_id and b.id = $3
      where e.org_id = $1 and e.id = $2`,
    [env.orgId, env.id, bound],
  )) ?? { own: false, composed: false }

/** Limits a bound token: in a composed group it is no admin, and another application is refused. */
export async function inReach<S extends InOrg>(db: Sql, scope: S, env: Pick<Env, 'orgId' | 'id'>, asAdmin: boolean) {
  const bound = boundTo(scope.principal)
  if (bound === null || bound === env.id) return scope
  const { own, composed } = await reachOf(db, bound, env)
  if (own) return scope
  if (!composed || asAdmin) throw fail('forbidden', 'this token is bound to another application')
  return { ...scope, role: 'member' as const }
}

/**
 * Says which objects a bound token can use, for the reference: the rule of `inReach`. Empty if the access refuses every
 * token. The sentence follows another one.
 */
export const reachOfBoundTokens = (base: Pick<Access<object>, 'words'>, objects: string): string =>
  refusesTokens(base)
    ? ''
    : `. If a service token is bound to an environment, it can use only ${objects} of the same application` +
      ('admin' in base.words ? '' : ', and of groups that environments of this application include')

const ofOrganization =
  'The environment must belong to the organization. If the environment is a branch, the branch must not have expired'

/** Finds an environment and the caller's own key grant. An expired environment counts as missing. */
export const env = <S extends InOrg, N extends string>(base: Access<S, N>): Access<S & InEnv, N | 'envId'> =>
  narrowed(
    'env',
    ofOrganization + reachOfBoundTokens(base, 'environments'),
    base,
    async (scope: S, { db, context }, params: Record<N | 'envId', string>) => {
      const found = await findEnv(db, scope.org, params.envId, scope.principal, context.now().toISOString())
      if (!found) throw fail('not_found', 'no such env')
      return { ...(await inReach(db, scope, found, 'admin' in base.words)), env: found }
    },
  )

/** True if resolving the token's environment can include this one: its parent, a branch, or a composed group. */
const takesIn = async (db: Sql, bound: string, env: Env): Promise<boolean> =>
  (await db.row(
    `select 1 from environments b
      where b.org_id = $1 and b.id = $2
        and (b.id = $4 or b.parent_environment_id = $3
             or exists (select from compositions c
                         where c.org_id = b.org_id and c.environment_id = coalesce(b.parent_environment_id, b.id)
                           and c.group_id = $5))`,
    [env.orgId, bound, env.id, env.parentEnvironmentId, env.groupId],
  )) !== undefined

/** A bound token’s grant on a group counts only while the group is composed into the token's environment. */
async function checkGrant({ db }: Call, { principal, env }: InEnv): Promise<void> {
  if (!env.wrappedDek) throw fail('forbidden', 'you hold no key grant on this environment')
  const bound = boundTo(principal)
  if (bound !== null && bound !== env.id && !(await takesIn(db, bound, env)))
    throw fail('forbidden', 'this token is bound to an environment that does not include this one')
}

/**
 * Adds the words of an access by key grant, for the reference. The rule of `checkGrant` for bound tokens is narrower than
 * the rule of `env`, so it takes its place.
 */
const grantWords = (words: Words, name: string, who: string): Words => ({
  ...words,
  env: ofOrganization,
  [name]: refusesTokens({ words })
    ? who
    : `${who}. A service token that is bound to an environment can call this only for its own environment, and for the parent, branches and groups of its own environment`,
})

const granteeWords = (words: Words): Words =>
  grantWords(
    withoutClients(words),
    'grantee',
    'The caller needs a key grant on the environment: the environment’s key, wrapped for the caller',
  )

/** Allows a holder of a key grant on the environment, who reads and writes secrets. */
export const grantee = <S extends InEnv, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed('grantee', granteeWords, base, async (scope, call) => {
    checkKeyed(scope)
    await checkGrant(call, scope)
    return scope
  })

const granteeOrMachineWords = (words: Words): Words =>
  grantWords(
    words,
    'granteeOrMachine',
    'The caller must be a machine client, or have a key grant on the environment: the environment’s key, wrapped for the caller',
  )

/** Restoring or deleting stored versions needs no key, so a machine client may do that too. */
export const granteeOrMachine = <S extends InEnv, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed('granteeOrMachine', granteeOrMachineWords, base, async (scope, call) => {
    if (scope.principal.type !== 'm2m') await checkGrant(call, scope)
    return scope
  })

/**
 * Allows admins. If the environment is a branch without protection, it also allows holders of a grant on the branch.
 */
export const branchHolderOrAdmin = <S extends InEnv, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'branchHolderOrAdmin',
    'An admin can delete every environment and branch. Another caller can delete only a branch that is not protected, and must have a key grant on this branch',
    base,
    async (scope) => {
      if (isAdmin(scope)) return scope
      const { parentEnvironmentId, wrappedDek, protection } = scope.env
      if (parentEnvironmentId === null || wrappedDek === null)
        throw fail('forbidden', 'this needs the admin role, or a key grant on a branch')
      if (protection !== null) throw protectedBranch()
      return scope
    },
  )

export const protectedBranch = () => fail('forbidden', 'the branch is protected: deleting it needs the admin role')
