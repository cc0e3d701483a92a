import type { Sql, Tx } from '../../db/database.ts'
import { entryColumns } from '../../kernel/audit.ts'
import { isUnprotected, notExpired, type OfEnvironment } from '../environments/table.ts'
import { ownGrant } from '../grants/table.ts'
import { tokenInForce } from '../tokens/table.ts'

// A write alone and a group of writes are one statement: they differ in what they select as `allowed`.

interface Write {
  orgId: string
  environmentId: string
  name: string
  /** Of the secret, where this write makes it. */
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

/** A write as a group takes it along: with all that its checks and its audit entry need. */
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

/** Column and type of each field; parameters have this order. */
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
/** The parameter after those of the columns. */
const instantOf = (columns: object): `$${number}` => `$${Object.keys(columns).length + 1}`

/** A write `w` of which each column is a parameter. */
const oneOf = (columns: Columns<Write>) =>
  `(select ${Object.values(columns).map(([column, type], at) => `$${at + 1}::${type} as ${column}`)}) w`

/** Writes `w` of which each column is a parameter with the values of all. */
const manyOf = (columns: Columns<GroupedWrite>) =>
  `unnest(${Object.values(columns).map(([, type], at) => `$${at + 1}::${type}[]`)})
     as w (${Object.values(columns).map(([column]) => column)})`

/** Of `secrets s` and a write `w`. */
const ofSameName = 's.org_id = w.org_id and s.environment_id = w.environment_id and s.name = w.name'

/** Of a write `w` where there is no secret of that name. */
const mayBegin = 'coalesce(w.expected_version, 0) = 0'

/**
 * Writes what `allowed` selects, each with its version, and does `also` with what is `done`. A write is done that expects
 * no version, or the one at which the secret is, which is 0 where there is none.
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
 * One round trip for a create or an update. Undefined where the secret is not at the expected version. Writers of one name
 * wait for each other at the row; writers of others do not.
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
      and (select true from key_grants k where ${ownGrant('w.author_type', 'w.author_id')})
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
 * Writes by service tokens, each with its version and its audit entry, in one statement that commits by itself. Answers
 * with those that were made; of the others nothing is left. Their token is not in force or holds no key, their environment
 * is gone or protected, they expected another version, or all would have had to wait for them, as while the environment
 * is being deleted.
 *
 * What is looked up stands in subqueries that are not joined, so it is found by the whole key whatever the statistics say.
 * The insert waits only for another that is just making a secret of that name, in the order of the keys: groups do not
 * deadlock.
 */
export const writeBatch = (db: Sql, writes: readonly GroupedWrite[], now: string) =>
  db.rows<WrittenRow>(manyWrites, [...keysOf(groupedColumns).map((key) => writes.map((write) => write[key])), now])
