import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { agents } from '@skerry/contract/agents/endpoints'
import type { PolicyBody, PolicyRule } from '@skerry/contract/agents/policy-body'
import { me } from '@skerry/contract/me/endpoints'
import { tasks } from '@skerry/contract/tasks/endpoints'
import { newId, sha256 } from '../src/kernel/context.ts'
import { sealedPrivateKey } from './blobs.ts'
import { keeps, known, only, type Step, step, token, user } from './step.ts'
import { type Actor, newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Creates a P-256 key pair with Node's crypto, independently of the clients' own crypto code. */
export function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' }) as Record<string, string>
  return { privateKey, publicKeyJwk: JSON.stringify({ crv, kty, x, y }) }
}

/** An admin whose private key the test knows, so that it can sign policies. */
export interface Signing extends Actor {
  privateKey: KeyObject
  publicKeyJwk: string
}

export async function newSigning(world: World, tenant: Tenant): Promise<Signing> {
  const person = await newMember(world, tenant, 'admin', { keys: false })
  const key = newKey()
  const body = { publicKeyJwk: key.publicKeyJwk, encryptedPrivateKey: sealedPrivateKey() }
  const answer = await world.call(me.putKeys, { as: person.as, body })
  if (answer.status !== 200) throw new Error(answer.error?.message)
  return { ...person, ...key }
}

export const newTaskToken = () => {
  const taskRef = newId('taskRef')
  const token = `${taskRef}_${randomBytes(32).toString('base64url')}`
  return { token, taskRef, tokenHash: sha256(token) }
}

export const rules: PolicyRule[] = [
  { host: 'api.example.com', methods: ['GET', 'POST'], paths: ['/v1/**'], allow: ['API_KEY', 'OTHER_KEY'] },
  { host: 'hooks.example.com', methods: [], paths: [], allow: ['HOOK_URL'] },
]

const secondsOf = (world: World) => Math.floor(world.clock.now().getTime() / 1000)

/** Returns the body of version 1 of the agent's policy, valid for one day. */
export function policyOf(
  world: World,
  { orgId, agent, publicKeyJwk }: { orgId: string; agent: { id: string; slug: string }; publicKeyJwk: string },
  more: object = {},
): PolicyBody {
  const issuedAt = secondsOf(world)
  return {
    v: 1,
    org: orgId,
    agent: agent.id,
    agent_slug: agent.slug,
    policy_version: 1,
    issued_at: issuedAt,
    expires_at: issuedAt + 86_400,
    rules,
    signer: { kid: sha256(publicKeyJwk), jwk: JSON.parse(publicKeyJwk) },
    ...more,
  }
}

export function signBundle(body: object, key: KeyObject): string {
  const bytes = Buffer.from(JSON.stringify(body))
  const signature = sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' })
  return `ap1.${bytes.toString('base64url')}.${signature.toString('base64url')}`
}

export async function newAgent(world: World, { orgId, admin }: Tenant, more: object = {}) {
  const body = { name: 'Agent', slug: `agent-${newId('agent').slice(4, 12).toLowerCase()}`, ...more }
  const answer = await world.call(agents.create, { as: admin.as, params: { orgId }, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.agent
}

interface Publishing {
  orgId: string
  agent: { id: string; slug: string }
  person: Signing
}

export async function publish(world: World, { orgId, agent, person }: Publishing, more: object = {}) {
  const body = policyOf(world, { orgId, agent, publicKeyJwk: person.publicKeyJwk }, more)
  const bundle = signBundle(body, person.privateKey)
  const params = { orgId, agentId: agent.id }
  const answer = await world.call(agents.publish, { as: person.as, params, body: { bundle } })
  return { ...answer, bundle }
}

/** Creates an agent and publishes a policy for it. */
export async function newWorkingAgent(world: World, tenant: Tenant, more: object = {}) {
  const { orgId } = tenant
  const person = await newSigning(world, tenant)
  const agent = await newAgent(world, tenant, more)
  const { body, bundle } = await publish(world, { orgId, agent, person })
  return { orgId, person, agent, policy: body.policy, bundle }
}

export async function newTask(world: World, { admin }: Tenant, agentRef: string, more: object = {}) {
  const { token, taskRef, tokenHash } = newTaskToken()
  const body = { taskRef, tokenHash, ...more }
  const answer = await world.call(tasks.dispatch, { as: admin.as, params: { agentRef }, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return { ...answer.body, token }
}

export const cell = { host: 'api.example.com', method: 'GET', decision: 'allow', ruleIndex: 0, count: 1 } as const

/** Steps that create, change and end an agent, its policy and a task. */
export async function agency(world: World, ids: Record<string, string>, tenant: Tenant): Promise<Step[]> {
  const person = await newSigning(world, tenant)
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byPerson = { as: person.as, who: user(person) }
  const inAgent = only(ids, { agentId: 'agentId' })
  const resource = known(ids, 'agentId')
  const { taskRef, tokenHash } = newTaskToken()
  return [
    step(agents.create, 'agent.created', byToken, {
      params: only(ids, {}),
      body: () => ({ name: 'Agent', slug: 'agent' }),
      resource: keeps(ids, 'agentId', 'agent'),
    }),
    step(agents.update, 'agent.updated', byToken, { params: inAgent, body: () => ({ name: 'Renamed' }), resource }),
    step(agents.publish, 'agent.policy_published', byPerson, {
      params: inAgent,
      body: () => {
        const agent = { id: ids.agentId as string, slug: 'agent' }
        const { publicKeyJwk, privateKey } = person
        return { bundle: signBundle(policyOf(world, { orgId: tenant.orgId, agent, publicKeyJwk }), privateKey) }
      },
      resource,
    }),
    step(agents.rollback, 'agent.policy_rolled_back', byToken, {
      params: () => ({ ...inAgent(), version: '1' }),
      resource,
    }),
    step(tasks.dispatch, 'agent.task_dispatched', byToken, {
      params: () => ({ agentRef: 'agent' }),
      body: () => ({ taskRef, tokenHash }),
      resource: keeps(ids, 'taskId', 'task'),
    }),
    step(tasks.revoke, 'agent.task_revoked', byPerson, {
      params: () => ({ taskId: taskRef }),
      resource: known(ids, 'taskId'),
    }),
    step(agents.delete, 'agent.deleted', byToken, { params: inAgent, resource }),
  ]
}
