import { Type } from 'typebox'
import { del, get, patch, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { DisplayName, Id, Instant, NextCursor, Nullable, Ok, Page, Slug, Strict, Version } from '../schema.ts'
import { Agent, AgentPolicy, NamedAgent, Thumbprint } from './schemas.ts'

/** This schema checks the form only. A verifier checks the content. Published clients use the same form. */
const Bundle = Type.String({
  maxLength: limits.policyBundleCharacters,
  pattern: '^ap1\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
  description: 'A signed policy: `ap1.<body>.<signature>`',
})

const Environment = {
  ...Nullable(Id('environment')),
  description: 'The environment to which the agent is bound. null: no environment',
}

/**
 * Identities of agents, and the signed policies (bundles) that their proxies enforce. The server stores bundles. People
 * sign them on their own machines.
 */
export const agents = {
  list: get('/v1/orgs/:orgId/agents', {
    summary:
      'List agents: programs that use secrets only through Skerry’s proxy. A service token that is bound to an environment gets only the agents of this environment',
    query: Page,
    responses: { 200: Strict({ agents: Type.Array(Agent), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/agents', {
    summary:
      'Register an agent: a program that uses secrets only through Skerry’s proxy. An agent has no key pair, so it cannot decrypt secrets. If the caller is a service token that is bound to an environment, `environmentId` must be this environment',
    body: Strict({ name: DisplayName, slug: Slug, environmentId: Type.Optional(Environment) }),
    responses: { 201: Strict({ agent: Agent }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['agent.created'],
  }),
  signer: get('/v1/orgs/:orgId/agents/signers/me', {
    summary:
      'Get the thumbprint of the caller’s public key. If you write this thumbprint into the settings of a proxy, the proxy accepts policies that the caller signs. `signer` is null for a service token, a machine client, or a person without a keyring',
    responses: {
      200: Strict({ signer: Nullable(Strict({ userId: Id('user'), thumbprint: Thumbprint })) }),
    },
  }),
  get: get('/v1/orgs/:orgId/agents/:agentId', {
    summary: 'Get an agent, and the slug of its environment',
    responses: { 200: Strict({ agent: Agent, environmentSlug: Nullable(Slug) }) },
  }),
  update: patch('/v1/orgs/:orgId/agents/:agentId', {
    summary:
      'Rename an agent, bind it to an environment, or enable or disable it. If the caller is a service token that is bound to an environment, it can bind the agent only to this environment',
    body: Strict({
      name: Type.Optional(DisplayName),
      enabled: Type.Optional(
        Type.Boolean({ description: 'false: the server refuses a proxy that asks for the policy of this agent' }),
      ),
      environmentId: Type.Optional(Environment),
    }),
    responses: { 200: Strict({ agent: Agent }) },
    refuses: ['conflict'],
    audits: ['agent.updated'],
  }),
  delete: del('/v1/orgs/:orgId/agents/:agentId', {
    summary: 'Delete an agent with all versions of its policy, its tasks and its reported activity',
    responses: { 200: Ok },
    audits: ['agent.deleted'],
  }),
  policies: get('/v1/orgs/:orgId/agents/:agentId/policies', {
    summary: `List the newest ${limits.agentPoliciesListed} versions of an agent’s policy, newest first. A policy says which secrets the proxy may use for the agent`,
    responses: { 200: Strict({ policies: Type.Array(AgentPolicy) }) },
  }),
  publish: post('/v1/orgs/:orgId/agents/:agentId/policies', {
    summary:
      'Publish a new version of an agent’s policy. A policy says which secrets the proxy may use for the agent. The caller must have signed it',
    body: Strict({ bundle: Bundle }),
    responses: { 201: Strict({ policy: AgentPolicy }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['agent.policy_published'],
  }),
  rollback: post('/v1/orgs/:orgId/agents/:agentId/policies/:version/rollback', {
    summary:
      'Publish an earlier version of an agent’s policy again, as a new version. The earlier version must not have expired',
    responses: { 201: Strict({ policy: AgentPolicy }) },
    audits: ['agent.policy_rolled_back'],
  }),
  policy: get('/v1/agents/:agentRef/policy', {
    summary: 'Get the newest version of an agent’s policy. A proxy calls this, and then enforces the policy',
    unit: 'transaction',
    unaudited: 'proxies call this every few seconds. The agent has the time of the last call, to the minute',
    tagged: true,
    refuses: ['forbidden', 'not_found', 'mfa_required'],
    responses: {
      200: Strict({
        bundle: Type.String(),
        version: Version,
        expiresAt: Instant,
        agent: NamedAgent,
        signerThumbprint: Thumbprint,
      }),
    },
  }),
}
