import type { Sql, Tx } from '../../db/database.ts'

export interface LedgerRow {
  name: string
  /** null until the first value is known to be there. */
  valueDigest: string | null
  revisionDigest: string | null
  memo: string | null
  /** When this binding removed the name, at a destination that can restore it; null while the name exists. */
  deletedAt: string | null
  /** The run that is sending this name. The value at the destination is unknown until the run has recorded it. */
  sendingRunId: string | null
}

export const listLedger = (db: Sql, orgId: string, bindingId: string) =>
  db.rows<LedgerRow>(
    `select name, value_digest, revision_digest, memo, deleted_at, sending_run_id from sync_ledger
      where org_id = $1 and binding_id = $2`,
    [orgId, bindingId],
  )

/** Lists names that another binding wrote to a place of this one. */
export const listForeignOwners = (db: Sql, orgId: string, binding: { id: string; places: readonly string[] }) =>
  db.rows<{ name: string; bindingId: string }>(
    `select l.name, l.binding_id from sync_bindings b
       join sync_ledger l on l.org_id = b.org_id and l.binding_id = b.id
      where b.org_id = $1 and b.id <> $2 and b.places && $3::text[] and l.deleted_at is null`,
    [orgId, binding.id, binding.places],
  )

export const beginSending = (db: Tx, orgId: string, bindingId: string, runId: string, names: readonly string[]) =>
  db.rows(
    `insert into sync_ledger (org_id, binding_id, name, sending_run_id)
     select $1, $2, name, $3 from unnest($4::text[]) as given(name)
     on conflict (org_id, binding_id, name) do update set sending_run_id = $3`,
    [orgId, bindingId, runId, names],
  )

export interface Sent {
  name: string
  valueDigest: string
  revisionDigest: string | null
  memo: string | null
}

/** Records nothing if the ledger was reset for another place meanwhile. */
export const recordWritten = (
  db: Tx,
  run: { orgId: string; id: string; bindingId: string },
  sent: readonly Sent[],
  now: string,
) =>
  db.rows(
    `update sync_ledger l set value_digest = g.value_digest, revision_digest = g.revision_digest, memo = g.memo,
            written_at = $4, deleted_at = null, sending_run_id = null
       from unnest($5::text[], $6::text[], $7::text[], $8::text[]) as g(name, value_digest, revision_digest, memo)
      where l.org_id = $1 and l.binding_id = $2 and l.sending_run_id = $3 and l.name = g.name`,
    [
      run.orgId,
      run.bindingId,
      run.id,
      now,
      sent.map(({ name }) => name),
      sent.map(({ valueDigest }) => valueDigest),
      sent.map(({ revisionDigest }) => revisionDigest),
      sent.map(({ memo }) => memo),
    ],
  )

/** Ends the sending of names that the destination refused. What the ledger knew of them before is still true. */
export const recordRefused = async (
  db: Tx,
  run: { orgId: string; id: string; bindingId: string },
  names: readonly string[],
): Promise<void> => {
  await db.rows(
    `delete from sync_ledger where org_id = $1 and binding_id = $2 and sending_run_id = $3 and name = any($4::text[])
        and value_digest is null`,
    [run.orgId, run.bindingId, run.id, names],
  )
  await db.rows(
    `update sync_ledger set sending_run_id = null
      where org_id = $1 and binding_id = $2 and sending_run_id = $3 and name = any($4::text[])`,
    [run.orgId, run.bindingId, run.id, names],
  )
}

export const forgetNames = (db: Sql, orgId: string, bindingId: string, names: readonly string[]) =>
  db.rows('delete from sync_ledger where org_id = $1 and binding_id = $2 and name = any($3::text[])', [
    orgId,
    bindingId,
    names,
  ])

/** Keeps removed names that can be restored there, so that this binding may write them again. */
export const recordDeleted = (db: Sql, orgId: string, bindingId: string, names: readonly string[], now: string) =>
  db.rows(
    `update sync_ledger set deleted_at = $4, sending_run_id = null
      where org_id = $1 and binding_id = $2 and name = any($3::text[])`,
    [orgId, bindingId, names, now],
  )

export const resetLedger = (db: Tx, orgId: string, bindingId: string) =>
  db.rows('delete from sync_ledger where org_id = $1 and binding_id = $2', [orgId, bindingId])

/** Lists the names that an interrupted run was sending. */
export const listUnderWay = async (db: Sql, orgId: string, bindingId: string, runId: string): Promise<string[]> =>
  (
    await db.rows<{ name: string }>(
      'select name from sync_ledger where org_id = $1 and binding_id = $2 and sending_run_id = $3 order by name',
      [orgId, bindingId, runId],
    )
  ).map(({ name }) => name)
