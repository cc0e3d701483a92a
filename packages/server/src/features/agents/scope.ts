import type { Agent as AgentRow } from '@skerry/contract/agents/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { accessOf, type Checked, narrowed, signedIn } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import { boundTo } from '../../kernel/principal.ts'
import { type InOrg, isAdmin, member, type Org, within } from '../orgs/scope.ts'

/** An agent with a field that only the server uses: the id of its deleted environment. */
export type Agent = Checked<Static<typeof AgentRow> & { orgId: string; lostEnvironmentId: string | null }>

export type OnAgent = InOrg & { agent: Agent }

/** Columns of `agents a`. */
export const agentColumns = `a.org_id, a.id, a.name, a.slug, a.environment_id, a.lost_environment_id, a.enabled,
  a.policy_version, a.last_policy_fetch_at, a.created_at, a.updated_at`

const findAgent = (db: Sql, org: Org, agentId: string) =>
  db.row<Agent>(`select ${agentColumns} from agents a where a.org_id = $1 and a.id = $2`, [org.id, agentId])

export const agent = within<'agent', 'agentId', Agent>(
  'agent',
  'agentId',
  'The agent must belong to the organization',
  findAgent,
)

/** True for a row of the principal's organizations. Takes the parameters of its own organization and its user id. */
export const ofPrincipal = (orgId: string, ownOrg: `$${number}`, userId: `$${number}`) =>
  `(${orgId} = ${ownOrg} or exists (select from memberships m where m.org_id = ${orgId} and m.user_id = ${userId}))`

/** The organization of a token or machine client, or else the id of a person; the other one is null. */
export const reachOf = (principal: Principal): [orgId: string | null, userId: string | null] =>
  principal.type === 'user' ? [null, principal.id] : [principal.orgId, null]

const findAgents = (db: Sql, principal: Principal, ref: string) =>
  db.rows<Agent>(
    `select ${agentColumns} from agents a where (a.id = $1 or a.slug = $1) and ${ofPrincipal('a.org_id', '$2', '$3')}
      limit 2`,
    [ref, ...reachOf(principal)],
  )

/** Finds an agent by its id, or by its slug in any organization of the caller. */
export const agentRef = accessOf<OnAgent, 'agentRef'>(
  'agentRef',
  'A caller who belongs to the organization of the agent',
  async (call, params) => {
    const { principal } = await signedIn.resolve(call, {})
    const [found, another] = await findAgents(call.db, principal, params.agentRef)
    if (!found) throw fail('not_found', 'no such agent')
    if (another)
      throw fail('invalid_request', 'path: several of your organizations have an agent of this slug: use its id')
    return { ...(await member.resolve(call, { orgId: found.orgId })), agent: found }
  },
)

/** A token that is bound to an environment may use the agents that are bound to it. */
export const inReach = <S extends OnAgent, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'inReach',
    'A service token that is bound to an environment can use only the agents of this environment' +
      ('admin' in base.words || 'dispatcher' in base.words
        ? ''
        : '. If this token is not an admin token, it can also use the agents that are bound to no environment'),
    base,
    async (scope) => {
      checkReach(scope)
      return scope
    },
  )

function checkReach({ principal, role, agent }: OnAgent): void {
  const bound = boundTo(principal)
  if (bound === null || bound === agent.environmentId) return
  // A bound token manages only agents of its environment. It may also enforce those of the whole organization.
  if (agent.environmentId === null && !isAdmin({ role })) return
  throw fail('forbidden', 'this token is bound to another environment than the agent')
}

/** Allows callers who may give work to an agent that they can reach. */
export const dispatcher = <S extends OnAgent, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'dispatcher',
    'The caller must be an owner or admin, an admin service token or a machine client',
    base,
    async (scope) => {
      if (!isAdmin(scope)) throw fail('forbidden', 'this needs the admin role')
      return scope
    },
  )

/** Only a service token enforces a policy, so a person or a machine client cannot report activity. */
export const reporter = <S extends OnAgent, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed('reporter', 'The caller must be a service token', base, async (scope) => {
    if (scope.principal.type !== 'service_token') throw fail('forbidden', 'only a service token may report activity')
    return scope
  })
