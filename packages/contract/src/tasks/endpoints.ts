import { Type } from 'typebox'
import { hostPattern, methodPattern, policyLimits } from '../agents/policy-body.ts'
import { NamedAgent, Thumbprint } from '../agents/schemas.ts'
import { get, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { idLength, idPrefixes } from '../prefixes.ts'
import { DisplayName, Id, Instant, Nullable, Strict, Version } from '../schema.ts'
import { AgentTask, activityDecisions, Name, Scopes } from './schemas.ts'

const Decision = Type.Unsafe<(typeof activityDecisions)[number]>(
  Type.Union(
    activityDecisions.map((decision) => Type.Literal(decision)),
    { description: 'The decision of the proxy about the request' },
  ),
)

const whole = { maximum: 1_000_000_000 }

const Count = Type.Integer({ ...whole, minimum: 1 })

const RuleIndex = Nullable(
  Type.Integer({
    minimum: 0,
    maximum: policyLimits.rules - 1,
    description: 'Index of the rule that decided, in the policy. null: no rule decided',
  }),
)

const Counts = Type.Record(Type.String(), Count, { description: 'Names of secrets, each with its count' })

const GivenCounts = Type.Record(Name, Count, {
  additionalProperties: false,
  minProperties: 1,
  maxProperties: limits.activitySecretsMax,
})

const dimensions = {
  host: Type.String({ pattern: hostPattern, description: 'Hostname in lower case' }),
  method: Type.String({ pattern: methodPattern, description: 'HTTP method in capital letters' }),
  decision: Decision,
  ruleIndex: RuleIndex,
}

/**
 * The tasks of agents, and the activity that proxies report. A task has a token that lives for minutes and can only
 * narrow the policy.
 */
export const tasks = {
  dispatch: post('/v1/agents/:agentRef/dispatch', {
    summary:
      'Register a task: one run of an agent. The caller makes a token for the task, and sends only the hash of the token to the server',
    body: Strict({
      taskRef: { ...Id('taskRef'), description: 'The `skd_...` part of the token' },
      tokenHash: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'SHA-256 of the token, in base64url' }),
      scopes: Type.Optional(
        Type.Array(Name, {
          maxItems: limits.taskScopesMax,
          uniqueItems: true,
          description: 'The secrets that the task may use. Default: every secret that the policy allows',
        }),
      ),
      ttlSeconds: Type.Optional(
        Type.Integer({
          minimum: limits.taskTtlMinSeconds,
          maximum: limits.taskTtlMaxSeconds,
          description: `Lifetime of the task, in seconds. Default: ${limits.taskTtlDefaultSeconds}`,
        }),
      ),
      label: Type.Optional({ ...DisplayName, description: 'A name for the task, which admins see' }),
      proofJwk: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            maxProperties: 10,
            description: 'EC P-256 public key, as JWK. `tasks.introspect` returns its thumbprint',
          },
        ),
      ),
    }),
    responses: {
      201: Strict({
        task: AgentTask,
        header: Type.String({ description: 'The header in which the agent presents the token' }),
      }),
    },
    refuses: ['forbidden', 'not_found', 'mfa_required', 'conflict'],
    audits: ['agent.task_dispatched'],
  }),
  introspect: post('/v1/tasks/introspect', {
    summary:
      'Check a task token. A proxy calls this to find out to which task a request belongs. The caller must belong to the organization of the task. A service token that is bound to an environment cannot check tasks for an agent of a different environment',
    unaudited: 'proxies call this often. The task has the time of the last call, to the minute',
    body: Strict({
      token: Type.String({
        pattern: `^${idPrefixes.taskRef}[0-9A-Za-z]{${idLength}}_[A-Za-z0-9_-]{43}$`,
        description: 'The whole token of a task',
      }),
    }),
    responses: {
      200: Strict({
        session: Strict({
          taskId: Id('agentTask'),
          agent: NamedAgent,
          scopes: Scopes,
          policyVersion: Type.Integer(),
          proofThumbprint: Nullable(Thumbprint),
          expiresAt: Instant,
        }),
      }),
    },
    refuses: ['forbidden', 'not_found', 'mfa_required'],
  }),
  revoke: post('/v1/tasks/:taskId/revoke', {
    summary: 'Revoke a task before it expires. You can repeat the call',
    responses: { 200: Strict({ task: AgentTask }) },
    refuses: ['forbidden', 'not_found', 'mfa_required'],
    audits: ['agent.task_revoked'],
  }),
  get: get('/v1/tasks/:taskId', {
    summary: 'Get a task, without its token',
    responses: { 200: Strict({ task: AgentTask }) },
    refuses: ['not_found', 'mfa_required'],
  }),
  list: get('/v1/orgs/:orgId/agents/:agentId/tasks', {
    summary: `List the newest ${limits.agentTasksListed} tasks (runs) of an agent, newest first, including ended tasks`,
    responses: { 200: Strict({ tasks: Type.Array(AgentTask) }) },
  }),
  report: post('/v1/agents/:agentRef/activity', {
    summary:
      'Report how often a proxy allowed or refused requests of an agent. The report names hosts, methods and secrets, but no paths of requests',
    unaudited: 'proxies report every minute, and the reports themselves are stored',
    body: Strict({
      windowStart: { ...Instant, description: 'Beginning of the period of the report' },
      policyVersion: Type.Optional({ ...Version, description: 'The version of the policy that the proxy enforced' }),
      entries: Type.Array(
        Strict({
          ...dimensions,
          count: Type.Integer({
            ...whole,
            minimum: 0,
            description: 'Number of requests. 0 if there are only `redactions`',
          }),
          secrets: Type.Optional({ ...GivenCounts, description: 'Number of requests with each secret, by its name' }),
          redactions: Type.Optional({
            ...GivenCounts,
            description: 'How often the proxy removed each secret from an answer, by its name',
          }),
        }),
        {
          minItems: 1,
          maxItems: limits.activityEntriesMax,
          description: 'One entry for each host, method, decision and rule',
        },
      ),
    }),
    responses: { 200: Strict({ accepted: Type.Integer() }) },
    refuses: ['forbidden', 'not_found', 'conflict'],
  }),
  activity: get('/v1/orgs/:orgId/agents/:agentId/activity', {
    summary:
      'Get how many requests of an agent the proxies reported in the last `days` days, by host, method and decision. The answer also has the rules and secrets of the policy that no request used',
    query: Strict({
      days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: limits.activityDaysMax,
          description: `Number of days, up to now. Default: ${limits.activityDaysDefault}`,
        }),
      ),
    }),
    responses: {
      200: Strict({
        activity: Type.Array(
          Strict({
            ...dimensions,
            policyVersion: Nullable(
              Type.Integer({ description: 'The version of the policy to whose rules `ruleIndex` refers' }),
            ),
            count: Type.Integer(),
            secrets: Counts,
            redactions: Counts,
            firstAt: Instant,
            lastAt: Instant,
          }),
        ),
        timeline: Type.Array(
          Strict({ startsAt: Instant, host: Type.String(), decision: Decision, count: Type.Integer() }),
          {
            description: `Number of requests to each of the ${limits.activityTimelineHosts} hosts with the most requests: for each hour if \`days\` is at most ${limits.activityHourlyDays}, otherwise for each day`,
          },
        ),
        summary: Strict({
          total: Type.Integer(),
          allowed: Type.Integer(),
          refused: Type.Integer(),
          redacted: Type.Integer({
            description: 'How often the answer of a host had a secret in it, and the proxy removed the secret',
          }),
          hosts: Type.Integer(),
          unusedRules: Type.Array(Type.Integer()),
          unusedSecrets: Type.Array(Type.String()),
          days: Type.Integer(),
        }),
      }),
    },
  }),
}
