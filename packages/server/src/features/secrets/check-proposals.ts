import type { changes } from '@skerry/contract/changes/endpoints'
import { limits } from '@skerry/contract/limits'
import type { In } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { InEnv } from '../envs/scope.ts'
import type { Proposal } from './proposal.ts'
import { checkEnvironmentQuota, type QuotaContext } from './quota-cache.ts'
import { conflict } from './secrets.ts'
import { findSecret } from './store.ts'

/** Checks several writes as if they were done now, and returns them as proposals. */
export async function checkProposals(
  input: In<typeof changes.propose, InEnv, QuotaContext>,
): Promise<[Proposal, ...Proposal[]]> {
  const { puts = [], deletes = [] } = input.body
  checkNames([...puts, ...deletes])
  const proposals: Proposal[] = []
  for (const write of [...puts, ...deletes]) proposals.push(await checkProposal(input, write))
  const [first, ...others] = proposals
  if (!first) throw fail('invalid_request', 'body: names no secret in puts or deletes')
  return [first, ...others]
}

interface Write {
  name: string
  /** Undefined if the secret is to be deleted. */
  ciphertext?: string
  expectedVersion?: number
  keepFor?: string
}

async function checkProposal(
  { context, db, env }: Pick<In<typeof changes.propose, InEnv, QuotaContext>, 'context' | 'db' | 'env'>,
  { name: secretName, ciphertext, expectedVersion, keepFor }: Write,
): Promise<Proposal> {
  const on = await findSecret(db, env, secretName)
  if (expectedVersion !== undefined && expectedVersion !== (on?.currentVersion ?? 0))
    throw conflict(secretName, expectedVersion)
  if (ciphertext === undefined) {
    if (!on) throw fail('not_found', `no such secret: ${secretName}`)
    return { action: 'delete', secretName, on, ...(keepFor !== undefined && { keepFor }) }
  }
  await checkEnvironmentQuota(context, db, env, { name: secretName, bytes: ciphertext.length })
  return { action: 'put', secretName, on, ciphertext }
}

function checkNames(writes: Write[]): void {
  const names = new Set<string>()
  for (const { name } of writes) {
    if (names.has(name)) throw fail('invalid_request', `body: names ${name} twice`)
    names.add(name)
  }
  if (names.size > limits.changeGroupMax)
    throw fail('invalid_request', `body: names ${names.size} secrets, and may name ${limits.changeGroupMax}`)
}
