import { createHash } from 'node:crypto'
import { leaseConfigProblem } from '@skerry/contract/leases/config'
import { roleNamePattern } from '@skerry/contract/leases/facts'
import { type LeaseConfig, type LeaseTag, leaseProviders } from '@skerry/contract/leases/providers'
import { verifierProblem } from '@skerry/contract/leases/verifiers'
import { idPattern } from '@skerry/contract/prefixes'
import { Value } from 'typebox/value'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'

const roleName = new RegExp(roleNamePattern)
const leaseId = new RegExp(idPattern('lease'))

/** Default time limit for one answer of a target, to connect or to run a statement. */
const answerMs = 10_000

/**
 * How long this process waits, and how long a database may run a statement. The database must end the statement first.
 */
export function waitLimits(outbound: Outbound): { answerMs: number; statementMs: number } {
  const { answerMs: given = answerMs, statementMs = given * 0.8 } = outbound
  return { answerMs: given, statementMs }
}

/**
 * Refuses a config that can never work. The API has checked it against the same schema. A config from another caller
 * must not reach a statement unchecked either.
 */
export function checkConfig(config: LeaseConfig<LeaseTag>): void {
  const { config: schema } = leaseProviders[config.provider]
  const [error] = Value.Errors(schema, config)
  if (error) throw new ProviderError('invalid', `config${error.instancePath}: ${error.message}`)
  const problem = leaseConfigProblem(config)
  if (problem !== null) throw new ProviderError('invalid', problem)
}

/**
 * Refuses a name or a verifier that must not appear in a statement. The schemas of the API have checked both. A caller
 * that uses an adapter without the API gets the error here, before anything is sent.
 */
export function checkAccount(
  provider: 'postgres' | 'mysql' | 'redis',
  lease: { roleName: string; verifier: string },
  adminUser: string,
): void {
  checkName(lease.roleName, adminUser)
  const problem = verifierProblem(provider, lease.verifier)
  if (problem !== null) throw new ProviderError('invalid', `verifier: ${problem}`)
}

export function checkName(name: string, adminUser: string): void {
  if (!roleName.test(name)) throw new ProviderError('invalid', 'roleName: must have the form [a-z_][a-z0-9_]{0,30}')
  if (name.startsWith('pg_') || name === 'default' || name === 'root' || name === adminUser.toLowerCase())
    throw new ProviderError('invalid', 'roleName: this name is reserved')
}

/** The statements that mark an account contain the id of its lease. */
export function checkLeaseId(id: string): void {
  if (!leaseId.test(id)) throw new ProviderError('invalid', 'id: must be the id of a lease')
}

/** A ledger stores this digest, because some verifiers are enough to sign in. */
export const verifierDigest = (verifier: string) => createHash('sha256').update(verifier).digest('hex')
