import type { agents } from '@skerry/contract/agents/endpoints'
import type { PolicyBody, PolicyRule } from '@skerry/contract/agents/policy-body'
import { limits } from '@skerry/contract/limits'
import type { Sql } from '../../db/database.ts'
import { matches } from '../../http/etag.ts'
import { PrebuiltResponse } from '../../http/prebuilt-response.ts'
import { type In, type Out, Reply } from '../../http/route.ts'
import { sha256 } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { readBundle, refused } from './bundle.ts'
import {
  findPolicy,
  findSignedRules,
  insertPolicy,
  listPolicies,
  lockVersion,
  noteFetch,
  type Policy,
} from './policy-store.ts'
import type { Agent, OnAgent } from './scope.ts'
import { findPublicKey } from './store.ts'

/** Returns the version that is served now. */
export const livePolicy = (db: Sql, agent: Agent): Promise<Policy | undefined> =>
  findPolicy(db, agent, agent.policyVersion)

/** Returns the rules of an agent by the version in their signature, for those versions that exist. */
export const signedRules = async (db: Sql, agent: Agent, versions: number[]): Promise<Map<number, PolicyRule[]>> =>
  new Map((await findSignedRules(db, agent, versions)).map((one) => [one.signedVersion, one.rules]))

export async function policies({ db, agent }: In<typeof agents.policies, OnAgent>): Out<typeof agents.policies> {
  const rows = await listPolicies(db, agent)
  return { policies: rows.map(toResponse) }
}

type Signing = OnAgent & { principal: UserPrincipal }

/** Refuses a policy that no proxy would enforce, so that its signer learns of it. */
export async function publish(input: In<typeof agents.publish, Signing>): Out<typeof agents.publish> {
  const { db, agent, principal, body, now, audit } = input
  const publicKeyJwk = await findPublicKey(db, principal.id)
  if (publicKeyJwk === undefined) throw fail('conflict', 'you have no keys yet: make a keyring first')
  const signed = readBundle(body.bundle, publicKeyJwk)
  checkSubject(signed, agent)
  checkExpiry(signed, now)
  const current = await lockVersion(db, agent)
  if (current === undefined) throw fail('not_found', 'no such agent')
  const version = current + 1
  if (signed.policy_version !== version)
    throw fail('conflict', `body.bundle: policy_version is ${signed.policy_version}, and the next one is ${version}`)
  const policy = await insertPolicy(db, agent, {
    version,
    bundle: body.bundle,
    signedVersion: version,
    signerThumbprint: signed.signer.kid,
    signerUserId: principal.id,
    rolledBackFrom: null,
    expiresAt: instantOf(signed.expires_at),
    rules: signed.rules,
    now,
  })
  const { signerThumbprint, expiresAt } = policy
  audit('agent.policy_published', agent.id, { version, signerThumbprint, expiresAt, rules: signed.rules.length })
  return { policy: toResponse(policy) }
}

function checkSubject(signed: PolicyBody, agent: Agent): void {
  if (signed.org !== agent.orgId) throw refused('is of another organization')
  if (signed.agent !== agent.id) throw refused('is of another agent')
  if (signed.agent_slug !== agent.slug) throw refused('names another slug than the agent has')
}

function checkExpiry({ expires_at: expiresAt, issued_at: issuedAt }: PolicyBody, now: string): void {
  const seconds = expiresAt - Date.parse(now) / 1000
  if (seconds < limits.policyExpiryMinSeconds || seconds > limits.policyExpiryMaxSeconds)
    throw refused('expires_at is to be from 1 hour to 90 days from now')
  if (issuedAt >= expiresAt) throw refused('issued_at is not before expires_at')
}

/** Serves the earlier bundle as it was signed, with its own expiry, so that nobody has to sign. */
export async function rollback(input: In<typeof agents.rollback, OnAgent>): Out<typeof agents.rollback> {
  const { db, agent, params, now, audit } = input
  const current = await lockVersion(db, agent)
  const earlier = await findPolicy(db, agent, Number(params.version))
  if (current === undefined || !earlier) throw fail('not_found', 'no such version')
  if (earlier.expiresAt <= now) throw fail('invalid_request', `path: version ${earlier.version} has expired`)
  const policy = await insertPolicy(db, agent, {
    ...earlier,
    version: current + 1,
    rolledBackFrom: earlier.version,
    now,
  })
  const { version, signerThumbprint, expiresAt } = policy
  audit('agent.policy_rolled_back', agent.id, { version, from: earlier.version, signerThumbprint, expiresAt })
  return { policy: toResponse(policy) }
}

export async function policy(input: In<typeof agents.policy, OnAgent>): Out<typeof agents.policy> {
  const { db, agent, headers, now } = input
  if (!agent.enabled) throw fail('forbidden', 'this agent is disabled')
  const served = await livePolicy(db, agent)
  if (!served) throw fail('not_found', 'no policy is published for this agent')
  await noteFetch(db, agent, now)
  const { bundle, version, expiresAt, signerThumbprint } = served
  const { id, slug, name } = agent
  const body = { bundle, version, expiresAt, agent: { id, slug, name }, signerThumbprint }
  const etag = `"${sha256(JSON.stringify(body))}"`
  const fresh = { etag, 'cache-control': 'private, no-cache' }
  if (matches(headers['if-none-match'], etag))
    return new PrebuiltResponse(304, Object.entries(fresh).flat(), Buffer.alloc(0))
  return new Reply(200, body, fresh)
}

/** Within 90 days of now, so it is an instant. */
const instantOf = (seconds: number) => new Date(seconds * 1000).toISOString()

const toResponse = ({ signedVersion, ...policy }: Policy) => policy
