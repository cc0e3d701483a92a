import type { AgentPolicy } from '@skerry/contract/agents/schemas'
import { limits } from '@skerry/contract/limits'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { Agent } from './scope.ts'

/** A policy with the version that is in its signature. */
export type Policy = Static<typeof AgentPolicy> & { signedVersion: number }

const policyColumns = `p.version, p.bundle, p.signed_version, p.signer_thumbprint, p.signer_user_id, p.rolled_back_from,
  p.expires_at, p.rules, p.created_at`

export const listPolicies = (db: Sql, { orgId, id }: Agent) =>
  db.rows<Policy>(
    `select ${policyColumns} from agent_policies p where p.org_id = $1 and p.agent_id = $2
      order by p.version desc limit $3`,
    [orgId, id, limits.agentPoliciesListed],
  )

export const findPolicy = (db: Sql, { orgId, id }: Pick<Agent, 'orgId' | 'id'>, version: number) =>
  db.row<Policy>(
    `select ${policyColumns} from agent_policies p where p.org_id = $1 and p.agent_id = $2 and p.version = $3`,
    [orgId, id, version],
  )

/** The rules that were signed under these versions. Takes the newest row of each, because rollbacks repeat them. */
export const findSignedRules = (db: Sql, { orgId, id }: Agent, signedVersions: number[]) =>
  db.rows<Pick<Policy, 'signedVersion' | 'rules'>>(
    `select distinct on (p.signed_version) p.signed_version, p.rules from agent_policies p
      where p.org_id = $1 and p.agent_id = $2 and p.signed_version = any($3::int[])
      order by p.signed_version, p.version desc`,
    [orgId, id, signedVersions],
  )

/** Locks and returns the version that is served now: the second of two publishers sees the first one's version. */
export const lockVersion = async (db: Tx, { orgId, id }: Agent): Promise<number | undefined> =>
  (
    await db.row<{ policyVersion: number }>(
      'select policy_version from agents where org_id = $1 and id = $2 for update',
      [orgId, id],
    )
  )?.policyVersion

export interface NewPolicy {
  version: number
  bundle: string
  signedVersion: number
  signerThumbprint: string
  signerUserId: string
  rolledBackFrom: number | null
  expiresAt: string
  rules: object[]
  now: string
}

/** Adds a version, which is served from now on. */
export async function insertPolicy(db: Tx, { orgId, id }: Agent, one: NewPolicy): Promise<Policy> {
  await db.row('update agents set policy_version = $3, updated_at = $4 where org_id = $1 and id = $2', [
    orgId,
    id,
    one.version,
    one.now,
  ])
  const row = await db.row<Policy>(
    `insert into agent_policies as p (org_id, agent_id, version, bundle, signed_version, signer_thumbprint,
                                      signer_user_id, rolled_back_from, expires_at, rules, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${policyColumns}`,
    [
      orgId,
      id,
      one.version,
      one.bundle,
      one.signedVersion,
      one.signerThumbprint,
      one.signerUserId,
      one.rolledBackFrom,
      one.expiresAt,
      JSON.stringify(one.rules),
      one.now,
    ],
  )
  return row as Policy
}

/** Records a fetch at most once a minute, because proxies fetch every few seconds. */
export const noteFetch = (db: Sql, { orgId, id }: Agent, now: string) =>
  db.row(
    `update agents set last_policy_fetch_at = $3 where org_id = $1 and id = $2
        and (last_policy_fetch_at is null or last_policy_fetch_at <= $3::timestamptz - interval '1 minute')
      returning id`,
    [orgId, id, now],
  )
