import pg from 'pg'
import { ProviderError } from '../provider-error.ts'

const { escapeIdentifier: identifier } = pg

export interface FoundRole {
  oid: number
  name: string
  mark: string | null
  /** Whether the admin account is a superuser. */
  superuser: boolean
  /** `server_version_num` */
  version: number
}

/**
 * An account that may create roles is not a member of them. It must be one to end their sessions and take their
 * objects.
 */
export function joinOf({ superuser, version }: FoundRole): (role: string) => string {
  if (superuser) return () => ''
  const options = version >= 160_000 ? ' WITH INHERIT TRUE, SET TRUE' : ''
  return (role) => `GRANT ${role} TO CURRENT_USER${options}`
}

/** `lock_not_available`: the lock timeout has expired. */
const lockTimeout = '55P03'

/** How long to wait for a lock before the sessions of the role are ended. */
const politeMs = 500

/**
 * Removes a role's right to sign in and its memberships, and ends its sessions. NOLOGIN comes first, because a client
 * could reconnect faster than its sessions are ended. The holder can lock its own role in a transaction that it leaves
 * open. Then the statement waits on a second connection, while this one ends every session of the role.
 */
export async function shutOut(client: pg.Client, role: FoundRole, connect: () => Promise<pg.Client>): Promise<void> {
  const quoted = identifier(role.name)
  const groups = await groupsOf(client, role)
  const statement = [
    joinOf(role)(quoted),
    `ALTER ROLE ${quoted} NOLOGIN`,
    ...groups.map((group) => `REVOKE ${identifier(group)} FROM ${quoted}`),
  ].join(';')
  try {
    await client.query(`SET LOCAL lock_timeout TO ${politeMs}; ${statement}`)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== lockTimeout) throw error
    await shutOutByForce(client, role, statement, connect)
  }
  await endSessions(client, role)
}

/**
 * The memberships that the admin account granted and can revoke. A function of the lease would otherwise keep their
 * rights.
 */
async function groupsOf(client: pg.Client, { oid }: FoundRole): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT g.rolname AS name FROM pg_catalog.pg_auth_members m
       JOIN pg_catalog.pg_roles g ON g.oid OPERATOR(pg_catalog.=) m.roleid,
       pg_catalog.pg_roles me
     WHERE m.member OPERATOR(pg_catalog.=) $1 AND me.rolname OPERATOR(pg_catalog.=) current_user
       AND (m.grantor OPERATOR(pg_catalog.=) me.oid OR me.rolsuper)`,
    [oid],
  )
  return (rows as { name: string }[]).map(({ name }) => name)
}

async function shutOutByForce(
  client: pg.Client,
  role: FoundRole,
  statement: string,
  connect: () => Promise<pg.Client>,
): Promise<void> {
  // Frees connections first, because the holder may use every connection that the server has.
  await signalSessions(client, role)
  const waiting = await connect()
  let isDone = false
  const shut = waiting.query(statement).finally(() => {
    isDone = true
  })
  const signal = async () => {
    while (!isDone) {
      await signalSessions(client, role)
      await client.query('SELECT pg_catalog.pg_sleep(0.02)')
    }
  }
  try {
    await Promise.all([shut, signal()])
  } finally {
    await waiting.end()
  }
}

/**
 * Ends the sessions of a role once. Before version 16, a holder can grant its role to others, and so lock the grant by
 * which the admin joins it. The admin then gets the right to end other sessions for this one transaction.
 */
async function signalSessions(client: pg.Client, { oid, superuser, version }: FoundRole): Promise<void> {
  const right = superuser || version >= 160_000 ? '' : 'GRANT pg_signal_backend TO CURRENT_USER;'
  try {
    await client.query(
      `BEGIN; ${right} SELECT pg_catalog.pg_terminate_backend(pid, 0::pg_catalog.int8) FROM pg_catalog.pg_stat_activity
       WHERE usesysid OPERATOR(pg_catalog.=) ${Number(oid)}::pg_catalog.oid`,
    )
  } finally {
    await client.query('ROLLBACK')
  }
}

async function endSessions(client: pg.Client, { oid, name }: FoundRole): Promise<void> {
  // A session that began before NOLOGIN may appear only now.
  for (let attempt = 0; attempt < 5; attempt++) {
    const { rowCount } = await client.query(
      `SELECT pg_catalog.pg_terminate_backend(pid, 2000::pg_catalog.int8) FROM pg_catalog.pg_stat_activity
       WHERE usesysid OPERATOR(pg_catalog.=) $1`,
      [oid],
    )
    if (!rowCount) return
  }
  throw new ProviderError('failed', `sessions of ${name} did not end`)
}
