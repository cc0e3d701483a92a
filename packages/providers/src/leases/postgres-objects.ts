import { createHash } from 'node:crypto'
import pg from 'pg'
import { ProviderError } from '../provider-error.ts'
import { lockRole, roleExists } from './postgres-group.ts'

const { escapeIdentifier: identifier } = pg

/** A role whose objects must be removed from one database. */
interface Owner {
  oid: number
  name: string
  /** The admin account, which runs the statements. */
  admin: string
  /**
   * Returns `GRANT role TO CURRENT_USER` with the options that this server needs, or '' if the admin is a superuser.
   */
  join: (role: string) => string
}

interface OwnedObject {
  /** The name for people, such as `table app.notes`. */
  label: string
  identity: string
  /** Quoted. Null for an object without a schema. */
  schema: string | null
  runsAsOwner: boolean
  /** Whether the new owner needs CREATE on the schema. PostgreSQL checks that unless the role owns the schema too. */
  needsCreate: boolean
}

/** Receives the label of each object after its transaction has committed. */
export interface Moved {
  dropped(label: string): void
  reassigned(label: string): void
}

/** PostgreSQL locks a dropped object until the transaction ends, and can hold some thousand locks. */
const batchSize = 500

/**
 * Removes what a role owns and was granted in one database, and drops the role if `dropsRole` is set. Functions that
 * run with their owner's rights are dropped. All other objects go to a role without rights that cannot sign in.
 * Otherwise a view, an index or a trigger function of the lease would run with the rights of the admin.
 */
export async function moveObjects(
  client: pg.Client,
  owner: Owner,
  moved: Moved,
  { dropsRole }: { dropsRole: boolean },
): Promise<void> {
  // Newest first, because newer functions may depend on older ones.
  const functions = (await ownedObjects(client, owner.oid)).filter(({ runsAsOwner }) => runsAsOwner).reverse()
  const kept = new Set<string>()
  for (let start = 0; start < functions.length; start += batchSize) {
    const batch = functions.slice(start, start + batchSize)
    const dependedOn = new Set(await inTransaction(client, () => dropFunctions(client, batch)))
    for (const one of batch)
      if (dependedOn.has(one)) kept.add(one.label)
      else moved.dropped(one.label)
  }
  let dropFailure: unknown
  const left = await inTransaction(client, async () => {
    const objects = await ownedObjects(client, owner.oid)
    if (objects.length > 0) await reassign(client, owner, objects)
    await client.query(`DROP OWNED BY ${identifier(owner.name)}`)
    if (dropsRole) dropFailure = await dropRole(client, owner.name)
    return objects
  })
  for (const { label } of left) moved.reassigned(kept.has(label) ? `${label} (other objects depend on it)` : label)
  if (dropFailure !== undefined) throw dropFailure
}

/**
 * Drops the role within the caller's transaction, which has moved its objects. If the drop fails, this rolls back only
 * the drop, so that the move is kept.
 *
 * @returns the error of the drop, or undefined
 */
async function dropRole(client: pg.Client, name: string): Promise<unknown> {
  await client.query('SAVEPOINT before_role')
  try {
    await client.query(`DROP ROLE IF EXISTS ${identifier(name)}`)
    return undefined
  } catch (error) {
    await client.query('ROLLBACK TO SAVEPOINT before_role')
    return error
  }
}

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function ownedObjects(client: pg.Client, oid: number): Promise<OwnedObject[]> {
  const { rows } = await client.query(
    `SELECT pg_catalog.concat(o.type, ' ', o.identity) AS label, o.identity, o.schema,
       coalesce(p.prosecdef, false) AS "runsAsOwner",
       o.schema IS NOT NULL AND n.nspowner OPERATOR(pg_catalog.<>) $1
         AND NOT s.classid OPERATOR(pg_catalog.=) ANY (ARRAY[$2, $3]::pg_catalog.regclass[]) AS "needsCreate"
     FROM pg_catalog.pg_shdepend s
       LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.dbid
       CROSS JOIN LATERAL pg_catalog.pg_identify_object(s.classid, s.objid, s.objsubid) o
       LEFT JOIN pg_catalog.pg_namespace n ON pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.=) o.schema
       LEFT JOIN pg_catalog.pg_proc p ON s.classid OPERATOR(pg_catalog.=) $4::pg_catalog.regclass
         AND p.oid OPERATOR(pg_catalog.=) s.objid
     WHERE s.refclassid OPERATOR(pg_catalog.=) $5::pg_catalog.regclass AND s.refobjid OPERATOR(pg_catalog.=) $1
       AND s.deptype OPERATOR(pg_catalog.=) 'o'
       AND (s.dbid OPERATOR(pg_catalog.=) 0::pg_catalog.oid OR d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
     ORDER BY s.objid`,
    [oid, 'pg_catalog.pg_class', 'pg_catalog.pg_type', 'pg_catalog.pg_proc', 'pg_catalog.pg_authid'],
  )
  return rows as OwnedObject[]
}

/** `dependent_objects_still_exist` */
const dependentObjects = '2BP01'

/**
 * @returns the functions that other objects depend on, such as a trigger of somebody else's table. Dropping those
 * objects as well could delete a column with its data.
 */
async function dropFunctions(client: pg.Client, functions: OwnedObject[]): Promise<OwnedObject[]> {
  const tryToDrop = async (some: OwnedObject[]) => {
    await client.query('SAVEPOINT before_drop')
    try {
      await client.query(`DROP ROUTINE ${some.map(({ identity }) => identity).join(', ')}`)
      return true
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== dependentObjects) throw error
      await client.query('ROLLBACK TO SAVEPOINT before_drop')
      return false
    }
  }
  // Drops all of them together first, because they may depend on each other.
  if (await tryToDrop(functions)) return []
  const kept: OwnedObject[] = []
  for (const one of functions) if (!(await tryToDrop([one]))) kept.push(one)
  return kept
}

async function reassign(client: pg.Client, owner: Owner, objects: OwnedObject[]): Promise<void> {
  const newOwner = identifier(await objectsRole(client, owner))
  const schemas = [...new Set(objects.flatMap(({ needsCreate, schema }) => (needsCreate && schema ? [schema] : [])))]
  for (const schema of schemas) await client.query(`GRANT CREATE ON SCHEMA ${schema} TO ${newOwner}`)
  await client.query(`REASSIGN OWNED BY ${identifier(owner.name)} TO ${newOwner}`)
  for (const schema of schemas) await client.query(`REVOKE CREATE ON SCHEMA ${schema} FROM ${newOwner}`)
}

/**
 * Returns the role that owns the objects left by ended leases of an admin account. It is created when first needed, and
 * kept. The admin is a member, so that it can use and drop those objects. The role itself is a member of no other role.
 */
async function objectsRole(client: pg.Client, { admin, join }: Owner): Promise<string> {
  const role = `skerry_objects_${createHash('sha256').update(admin).digest('hex').slice(0, 16)}`
  await lockRole(client, role)
  if (!(await roleExists(client, role))) await client.query(`CREATE ROLE ${identifier(role)} NOLOGIN`)
  const { rows } = await client.query(
    `SELECT r.rolcanlogin OR r.rolsuper OR EXISTS (
       SELECT FROM pg_catalog.pg_auth_members m WHERE m.member OPERATOR(pg_catalog.=) r.oid) AS powerful
     FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) $1`,
    [role],
  )
  if (rows[0]?.powerful)
    throw new ProviderError('failed', `the role ${role} must not be able to sign in, nor be a member of other roles`)
  await client.query(join(identifier(role)))
  return role
}
