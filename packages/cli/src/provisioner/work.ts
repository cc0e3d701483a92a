import type { Answer, Body } from '@skerry/contract/endpoint'
import type { LeaseConfig, LeaseTag } from '@skerry/contract/leases/providers'
import type { provisioner } from '@skerry/contract/leases/provisioner'
import type { KeyHolder } from '@skerry/crypto/wrap'
import { ChildFailure } from '@skerry/providers/children/messages'
import type { Pool } from '@skerry/providers/children/pool'
import { type RemoteSession, withLeaseSession } from '@skerry/providers/children/remote'
import { ProviderError } from '@skerry/providers/provider-error'
import { SkerryError } from '@skerry/sdk/errors'
import { openAdminSecret } from '@skerry/sdk/internal/admin-secrets'
import { redact } from '../failure.ts'
import { warn } from '../output.ts'

export type Job = NonNullable<Answer<typeof provisioner.claim>['job']>
export type Report = Body<typeof provisioner.report>

interface WorkDeps {
  holder: KeyHolder
  children: Pool
  /** A monotonic clock in milliseconds. */
  now: () => number
}

/**
 * A job that is older than 20 s creates no account. After a minute the server gives the job to another provisioner, and
 * the ledger would not expect the late account.
 */
const makeWithinMs = 20_000

type Progress = { touched: boolean; isLate: () => boolean }

/** Does one job and reports the result. It never throws. */
export async function work(job: Job, { holder, children, now }: WorkDeps): Promise<Report> {
  const begun = now()
  const progress: Progress = { touched: false, isLate: () => now() - begun > makeWithinMs }
  try {
    const config = job.target.config as unknown as LeaseConfig<LeaseTag>
    const credential = await openAdminSecret(job.target.wrappedAdminSecret, config, holder)
    const around = { now: () => new Date() }
    return await children.use(job.target.id, (child) =>
      withLeaseSession(child, { config, credential }, around, (session) => works[job.kind](session, job, progress)),
    )
  } catch (error) {
    const changedNothing = !progress.touched || isRefusedWhole(error)
    const crashed = error instanceof ChildFailure ? { crashed: true } : {}
    return { ok: false, error: { message: told(error), changedNothing, ...crashed } }
  }
}

const works: Record<Job['kind'], (session: RemoteSession, job: Job, progress: Progress) => Promise<Report>> = {
  async verify(session) {
    const { server, notes } = await session.verify()
    return { ok: true, server: printed(server), notes: notes.slice(0, 20).map(printed) }
  },

  async create(session, { lease, attempt }, progress) {
    const { id, resourceRef: roleName, verifier, verifierDigest, expiresAt } = needed(lease)
    // Removes the account that an earlier attempt may have made. If the account is not the lease's own, `create`
    // reports that it exists.
    if (attempt > 1) await removeOwn(session, { id, resourceRef: roleName, verifierDigest })
    if (progress.isLate()) throw new ProviderError('unreachable', 'the provisioner got the job too late')
    progress.touched = true
    await session.create({ id, roleName, verifier, expiresAt: new Date(expiresAt) } as never)
    return { ok: true }
  },

  async revoke(session, { lease }) {
    const { dropped, reassigned, problem } = await session.revoke(needed(lease))
    const objects = { dropped: dropped.map(printed), reassigned: reassigned.map(printed) }
    if (problem === null) return { ok: true, ...objects }
    return { ok: false, error: { message: printed(problem), changedNothing: false }, ...objects }
  },
}

function needed(lease: Job['lease']) {
  if (lease === null) throw new ProviderError('invalid', 'the job has no lease')
  return lease
}

async function removeOwn(session: RemoteSession, lease: Parameters<RemoteSession['revoke']>[0]): Promise<void> {
  try {
    await session.revoke(lease)
  } catch (error) {
    // The account with this name belongs to somebody else, so the lease's own account does not exist.
    if (!(error instanceof ProviderError) || error.reason !== 'foreign') throw error
  }
}

const isRefusedWhole = (error: unknown): boolean =>
  error instanceof ProviderError && ['exists', 'invalid', 'unsupported', 'foreign'].includes(error.reason)

/** Adapters report nothing secret. Any other error is shown only to the operator of this process. */
function told(error: unknown): string {
  if (error instanceof ProviderError || error instanceof SkerryError) return printed(error.message)
  const { name, message } = error as Error
  if (name === 'CryptoError') return 'the admin credential is not encrypted for this provisioner'
  warn(`a job failed: ${name}: ${redact(message)}`)
  return 'the provisioner failed; its output has the cause'
}

const printed = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, 500) || '-'
