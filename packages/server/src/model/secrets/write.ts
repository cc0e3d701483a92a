import type { Sql, Tx } from '../../db/database.ts'
import { entryColumns } from '../../kernel/audit.ts'
import { isUnprotected, notExpired, type OfEnvironment } from '../environments/table.ts'
import { ownGrant } from '../grants/table.ts'
import { tokenInForce } from '../tokens/table.ts'

// A single write and a group of writes are one statement each. They differ only in the query for `allowed`.

interface Write {
  orgId: string
  environmentId: string
  name: string
  /** The id of the secret if this write creates it. */
  newId: string
  ciphertext: string
  expectedVersion: number | null
  authorType: string
  authorId: string
}

interface SingleWrite extends Pick<Write, 'name' | 'newId' | 'ciphertext' | 'expectedVersion'> {
  author: { type: string; id: string }
  now: string
}

/** A write in a group, with all facts for its checks and its audit entry. */
export interface GroupedWrite extends Write {
  authorType: 'service_token'
  tokenHash: string
  auditId: string
  ipAddress: string | null
  userAgent: string | null
  requestId: string | null
}

/** A secret without its ciphertext, which the caller has. */
export interface WrittenRow {
  orgId: string
  id: string
  environmentId: string
  name: string
  version: number
  createdAt: string
  updatedAt: string
}

/** Column and type of each field, in the order of the parameters. */
type Columns<W> = Record<keyof W, readonly [column: string, type: 'text' | 'int']>

const writeColumns: Columns<Write> = {
  orgId: ['org_id', 'text'],
  environmentId: ['environment_id', 'text'],
  name: ['name', 'text'],
  newId: ['new_id', 'text'],
  ciphertext: ['ciphertext', 'text'],
  expectedVersion: ['expected_version', 'int'],
  authorType: ['author_type', 'text'],
  authorId: ['author_id', 'text'],
}

const groupedColumns: Columns<GroupedWrite> = {
  ...writeColumns,
  tokenHash: ['token_hash', 'text'],
  auditId: ['audit_id', 'text'],
  ipAddress: ['ip_address', 'text'],
  userAgent: ['user_agent', 'text'],
  requestId: ['request_id', 'text'],
}

const keysOf = <W extends object>(columns: Columns<W>) => Object.keys(columns) as (keyof W)[]
/** The parameter after the columns: the instant. */
const instantOf = (columns: object): `$${number}` => `$${Object.keys(columns).length + 1}`

/** SQL for one write `w`, with a parameter for each column. */
const oneOf = (columns: Columns<Write>) =>
  `(select ${Object.values(columns).map(([column, type], at) => `$${at + 1}::${type} as ${column}`)}) w`

/** SQL for many writes `w`, with an array parameter for each column. */
const manyOf = (columns: Columns<GroupedWrite>) =>
  `unnest(${Object.values(columns).map(([, type], at) => `$${at + 1}::${type}[]`)})
     as w (${Object.values(columns).map(([column]) => column)})`

/** SQL condition on `secrets s` and a write `w`: the write is to this secret. */
const ofSameName = 's.org_id = w.org_id and s.environment_id = w.environment_id and s.name = w.name'

/** SQL condition on a write `w`: it may create the secret. */
const mayBegin = 'coalesce(w.expected_version, 0) = 0'

/**
 * SQL that makes the writes in `allowed`, each with its version, and then runs `also` with the writes in `done`. A
 * write is done if it expects no version, or the current version of the secret, which is 0 for a new one.
 */
const writing = (allowed: string, now: string, also = '') => `
  with allowed as (
    ${allowed}
  ), written as (
    insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
    select org_id, new_id, environment_id, name, 1, ciphertext, ${now}::timestamptz, ${now} from allowed
     order by org_id, environment_id, name
    on conflict (org_id, environment_id, name) do update
      set current_version = secrets.current_version + 1, ciphertext = excluded.ciphertext,
          updated_at = excluded.updated_at
      where exists (
        select from allowed a
         where (a.environment_id, a.name) = (excluded.environment_id, excluded.name)
           and coalesce(a.expected_version, secrets.current_version) = secrets.current_version)
    returning id, environment_id, name, current_version, created_at, updated_at
  ), done as (
    select * from written join allowed using (environment_id, name)
  ), version as (
    insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
    select org_id, id, current_version, ciphertext, author_type, author_id, updated_at from done
  )${also}
  select org_id, id, environment_id, name, current_version as version, created_at, updated_at from done`

const oneWrite = writing(
  `select w.* from ${oneOf(writeColumns)}
    where ${mayBegin} or exists (select from secrets s where ${ofSameName})`,
  instantOf(writeColumns),
)

/**
 * Creates or updates a secret in one round trip. Returns undefined if the secret is not at the expected version.
 * Writers of the same name wait for each other at the row; writers of other names do not.
 */
export function writeSecret(
  db: Tx,
  env: OfEnvironment,
  { author, now, ...what }: SingleWrite,
): Promise<WrittenRow | undefined> {
  const write = { orgId: env.orgId, environmentId: env.id, authorType: author.type, authorId: author.id, ...what }
  return db.row<WrittenRow>(oneWrite, [...keysOf(writeColumns).map((key) => write[key]), now])
}

const manyWrites = writing(
  `select w.*
     from ${manyOf(groupedColumns)}
    cross join lateral (
      select e.org_id, e.id from environments e
       where e.org_id = w.org_id and e.id = w.environment_id and ${notExpired(instantOf(groupedColumns))}
         and ${isUnprotected}
         for key share skip locked
    ) e
     left join lateral (
      select true as is_held from secrets s where ${ofSameName} for no key update skip locked
    ) held on true
    where (select ${tokenInForce(instantOf(groupedColumns))} from service_tokens t where t.token_hash = w.token_hash)
      and (select true from key_grants k where ${ownGrant('w.author_type', 'w.author_id', instantOf(groupedColumns))})
      and (held.is_held or ${mayBegin} and (select true from secrets s where ${ofSameName}) is null)`,
  instantOf(groupedColumns),
  `, entry as (
    insert into audit_entries (${entryColumns})
    select org_id, audit_id, 'secret.written', author_type, author_id, 'secret', id,
           jsonb_build_object('environmentId', environment_id, 'name', name, 'version', current_version),
           ip_address, user_agent, request_id, updated_at
      from done
  )`,
)

/**
 * Makes writes by service tokens, each with its version and its audit entry, in one statement. It commits by itself,
 * unless the caller counts the group first in a transaction (`writeCounted`).
 * Returns the writes that were made. The others leave no trace: the token is not valid or has no key, the environment
 * is deleted or protected, the expected version differs, or the write would have had to wait, for example while the
 * environment is being deleted.
 *
 * The look-ups are subqueries without joins, so that they use the whole key whatever the statistics of the planner. The
 * insert waits only for another insert of the same name, in the order of the keys. So groups do not deadlock.
 */
export const writeBatch = (db: Sql, writes: readonly GroupedWrite[], now: string) =>
  db.rows<WrittenRow>(manyWrites, [...keysOf(groupedColumns).map((key) => writes.map((write) => write[key])), now])
