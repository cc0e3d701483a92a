import type { provisioner } from '@skerry/contract/leases/provisioner'
import { accessOf, signedIn } from '../../http/access.ts'
import type { Context } from '../../http/context.ts'
import type { In, Out } from '../../http/route.ts'
import { newId } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { TokenPrincipal } from '../../kernel/principal.ts'
import { absentFrom, beginEnd, delayEnd, type Ending, findEnding, lockLease, moveLease } from './ledger-store.ts'
import { countChildFailure, endChildFailures } from './pause.ts'
import { deleteJob, lockJob, type ProvisionerJob, releaseJob, takeJob } from './provisioner-store.ts'
import { findLease, findTarget, type Lease, type LeaseTarget } from './scope.ts'
import { recordReach } from './target-store.ts'
import { markAbsent, recordFailedTry, recordObjects } from './tries.ts'
import { ring, secondsAfter, waitFor } from './waiting.ts'

interface ByToken {
  principal: TokenPrincipal
}

/** The settings of a target name the token of its provisioner, so the token needs no role and no grant. */
export const serviceToken = accessOf<ByToken>(
  'serviceToken',
  'Any service token. The server gives a token only the jobs of targets whose settings name this token as the provisioner',
  async (call) => {
    const { principal } = await signedIn.resolve(call, {})
    if (principal.type !== 'service_token') throw fail('forbidden', 'only a service token may do this')
    return { principal }
  },
)

/**
 * How long a claim lasts, which is longer than a provisioner works on a job. A job without a report can be claimed
 * again after that.
 */
const claimSeconds = 60
const waitSecondsDefault = 20

type Claim = In<typeof provisioner.claim, ByToken>

export async function claim(input: Claim): Out<typeof provisioner.claim> {
  const { context, body, isGone, principal, now } = input
  const until = secondsAfter(now, body.waitSeconds ?? waitSecondsDefault)
  // A caller who has hung up gets no job, because nobody else could claim it for a minute.
  const look = async () => (isGone() ? undefined : take(input))
  return { job: (await waitFor(principal.id, { context, until, isGone }, look)) ?? null }
}

/** Claims a job. The provisioner may change the target from now on, so a lease to be made becomes `creating`. */
const take = ({ context, principal, transaction }: Claim) =>
  transaction(async ({ db }) => {
    const now = context.now()
    const until = new Date(now.getTime() + claimSeconds * 1000).toISOString()
    const job = await takeJob(db, principal, { id: newId('provisionerJob'), until, now: now.toISOString() })
    if (!job) return undefined
    const target = (await findTarget(db, { id: job.orgId }, job.targetId)) as LeaseTarget
    const lease = job.leaseId === null ? undefined : await findLease(db, { id: job.orgId }, job.leaseId)
    if (lease?.status === 'pending') await moveLease(db, lease, 'create', 'creating')
    return toResponse(job, target, lease)
  })

function toResponse({ id, kind, attempt, verifier }: ProvisionerJob, target: LeaseTarget, lease: Lease | undefined) {
  const { id: targetId, name, config, wrappedAdminSecret } = target
  return {
    id,
    kind,
    attempt,
    target: { id: targetId, name, config, wrappedAdminSecret },
    lease: lease ? leaseOf(lease, verifier) : null,
  }
}

const leaseOf = ({ id, resourceRef, verifierDigest, expiresAt }: Lease, verifier: string | null) => ({
  id,
  resourceRef: resourceRef as string,
  verifier,
  verifierDigest,
  expiresAt,
})

type Report = In<typeof provisioner.report, ByToken>
type ReportWork = Parameters<Parameters<Report['transaction']>[0]>[0]

export async function report(input: Report): Out<typeof provisioner.report> {
  const { context, principal, params, body, transaction } = input
  if (body.ok !== (body.error === undefined))
    throw fail('invalid_request', body.ok ? 'body.error: only where ok is false' : 'body.error: needed')
  const { job, ending } = await transaction(async (work) => {
    const job = await lockJob(work.db, principal, params.jobId)
    if (!job) throw fail('not_found', 'no such job: it is done, was given to another claim, or its target was deleted')
    return { job, ending: await reports[job.kind](input, work, job) }
  })
  await countCrash(context, job, body)
  if (ending) await removed(context, ending, body)
  ring(job.leaseId ?? job.targetId)
  // A job that failed halfway can be claimed again.
  ring(principal.id)
  return { ok: true }
}

/** A provisioner runs adapters in child processes, as this server does, and reports when one crashed. */
async function countCrash(context: Context, { orgId, targetId: id }: ProvisionerJob, { ok, error }: Report['body']) {
  if (ok) await endChildFailures(context, { orgId, id })
  else if (error?.crashed) await countChildFailure(context, { orgId, id }, error.message)
}

type Told = (input: Report, work: ReportWork, job: ProvisionerJob) => Promise<Ending | undefined>

const reports: Record<ProvisionerJob['kind'], Told> = {
  async verify({ body, now }, { db, audit }, job) {
    const target = (await findTarget(db, { id: job.orgId }, job.targetId)) as LeaseTarget
    const { server, notes, error } = body
    const lastError = error ? `target: ${error.message}` : null
    await recordReach(db, target, {
      lastError,
      ...(server === undefined ? {} : { server }),
      ...(error ? {} : { notes: notes ?? [] }),
      now,
    })
    await deleteJob(db, job)
    audit('lease_target.verified', target.id, { ok: lastError === null }, { orgId: job.orgId })
    return undefined
  },

  async create(input, work, job) {
    const lease = await lockLease(work.db, { orgId: job.orgId, id: job.leaseId as string })
    // The lease was revoked or expired while it was made. The provisioner's next job removes its account.
    if (lease?.status !== 'creating') {
      if (lease && input.body.error?.changedNothing === false)
        await delayEnd(work.db, lease, absentFrom(lease, input.now))
      await releaseJob(work.db, job)
    } else if (input.body.error) await failed(input, work, { job, lease, error: input.body.error })
    else await made(work, job, lease)
    return undefined
  },

  async revoke(_, { db }, job) {
    await deleteJob(db, job)
    return findEnding(db, { orgId: job.orgId, id: job.leaseId as string })
  },
}

async function made({ db, audit }: ReportWork, job: ProvisionerJob, lease: Lease): Promise<void> {
  await moveLease(db, lease, 'activate', 'active')
  await deleteJob(db, job)
  const { orgId, targetId, provider, resourceRef, expiresAt, requestedById } = lease
  audit('lease.created', lease.id, { targetId, provider, resourceRef, expiresAt, requestedById }, { orgId })
}

interface Failed {
  job: ProvisionerJob
  lease: Lease
  error: { message: string; changedNothing: boolean }
}

/**
 * Ends a lease that could not be made. At its second attempt a provisioner cannot know what the first attempt left
 * behind, so the account must be removed.
 */
async function failed({ now }: Report, { db, audit }: ReportWork, { job, lease, error }: Failed): Promise<void> {
  const lastError = `target: ${error.message}`
  const isClean = error.changedNothing && job.attempt === 1
  const { orgId, targetId } = lease
  if (isClean) {
    await moveLease(db, lease, 'fail', 'failed', { lastError })
    await deleteJob(db, job)
  } else {
    await beginEnd(db, lease, { as: 'failed', now, absentFrom: absentFrom(lease, now), lastError })
    await releaseJob(db, job)
  }
  audit('lease.failed', lease.id, { targetId, isClean }, { orgId })
}

async function removed(context: Context, ending: Ending, { error, dropped = [], reassigned = [] }: Report['body']) {
  await recordObjects(context, ending, { dropped, reassigned })
  if (error) await recordFailedTry(context, ending, `target: ${error.message}`)
  else await markAbsent(context, ending)
}
