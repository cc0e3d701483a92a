import type { Sql, Tx } from '../../db/database.ts'
import type { TokenPrincipal } from '../../kernel/principal.ts'
import { tokenInForce } from '../../model/tokens/table.ts'
import type { LeaseId } from './ledger-store.ts'
import type { LeaseTarget } from './scope.ts'

type JobKind = 'verify' | 'create' | 'revoke'

export interface ProvisionerJob {
  orgId: string
  id: string
  targetId: string
  leaseId: string | null
  kind: JobKind
  verifier: string | null
  attempt: number
}

const jobColumns = 'j.org_id, j.id, j.target_id, j.lease_id, j.kind, j.verifier, j.attempt'

interface NewJob {
  id: string
  targetId: string
  leaseId?: string
  verifier?: string | undefined
  now: string
}

/** Inserts nothing if the same job already exists. */
export const insertJob = (db: Sql, orgId: string, { id, targetId, leaseId, verifier, now }: NewJob) =>
  db.rows(
    `insert into provisioner_jobs (org_id, id, target_id, lease_id, verifier, created_at) values ($1, $2, $3, $4, $5, $6)
     on conflict (org_id, target_id, lease_id) do nothing`,
    [orgId, id, targetId, leaseId ?? null, verifier ?? null, now],
  )

/**
 * Claims the oldest free job of a token, and gives the job a new id. Skips a job whose lease needs neither creation nor
 * removal.
 */
export const takeJob = (
  db: Tx,
  { orgId, id: tokenId }: TokenPrincipal,
  given: { id: string; until: string; now: string },
) =>
  db.row<ProvisionerJob>(
    `with next as (
       select j.org_id, j.id, case when l.status is null then 'verify'
                                   when l.status = 'revoking' then 'revoke' else 'create' end as kind
         from provisioner_jobs j
         join lease_targets t on t.org_id = j.org_id and t.id = j.target_id
         left join leases l on l.org_id = j.org_id and l.id = j.lease_id
        where j.org_id = $1 and t.config->>'provisionerTokenId' = $2
          and (j.claimed_until is null or j.claimed_until <= $3)
          and (j.lease_id is null or t.status <> 'paused' and l.status in ('pending', 'creating', 'revoking'))
        order by j.created_at, j.id limit 1 for update of j skip locked)
     update provisioner_jobs j
        set id = $4, claimed_until = $5, attempt = case when j.kind = next.kind then j.attempt + 1 else 1 end,
            kind = next.kind, verifier = case when next.kind = 'create' then j.verifier end
       from next where j.org_id = next.org_id and j.id = next.id
     returning ${jobColumns}`,
    [orgId, tokenId, given.now, given.id, given.until],
  )

/** Locks a job that this token has claimed. Each claim gives the job a new id, so an outdated id finds nothing. */
export const lockJob = (db: Tx, { orgId, id: tokenId }: TokenPrincipal, jobId: string) =>
  db.row<ProvisionerJob>(
    `select ${jobColumns} from provisioner_jobs j
       join lease_targets t on t.org_id = j.org_id and t.id = j.target_id
      where j.org_id = $1 and j.id = $3 and j.kind is not null and t.config->>'provisionerTokenId' = $2
      for update of j`,
    [orgId, tokenId, jobId],
  )

export const deleteJob = (db: Sql, { orgId, id }: Pick<ProvisionerJob, 'orgId' | 'id'>) =>
  db.rows('delete from provisioner_jobs where org_id = $1 and id = $2', [orgId, id])

/** Makes a claimed job free, so that it can be claimed again. */
export const releaseJob = (db: Tx, { orgId, id }: ProvisionerJob) =>
  db.rows('update provisioner_jobs set claimed_until = null where org_id = $1 and id = $2', [orgId, id])

export const deleteJobOf = (db: Sql, { orgId, id }: LeaseId) =>
  db.rows('delete from provisioner_jobs where org_id = $1 and lease_id = $2', [orgId, id])

/** Deletes the waiting check of a target, because a check of the earlier credential says nothing about the new one. */
export const deleteCheck = (db: Tx, { orgId, id }: LeaseTarget) =>
  db.rows('delete from provisioner_jobs where org_id = $1 and target_id = $2 and lease_id is null', [orgId, id])

export const isChecking = async (db: Sql, { orgId, id }: LeaseTarget): Promise<boolean> =>
  (await db.row('select 1 from provisioner_jobs where org_id = $1 and target_id = $2 and lease_id is null', [
    orgId,
    id,
  ])) !== undefined

export const isTokenInForce = async (db: Sql, orgId: string, tokenId: string, now: string): Promise<boolean> =>
  (await db.row(`select 1 from service_tokens t where t.org_id = $1 and t.id = $2 and ${tokenInForce('$3')}`, [
    orgId,
    tokenId,
    now,
  ])) !== undefined
