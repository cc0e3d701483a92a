import { ProviderError } from '../provider-error.ts'
import type { Query } from './mysql-client.ts'
import { rightsOnObjects } from './mysql-objects.ts'
import type { LeaseTarget, TargetFacts } from './provider.ts'

// The server behind a target: its product and version, and the rights of the admin account.

export const nativePassword = 'mysql_native_password'

const isGrantee = `grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')`

export const isMariadb = (version: unknown): boolean => /mariadb/i.test(String(version))

/** Refuses a server or an admin account with which leases can never work. */
export async function verifyServer(query: Query, config: LeaseTarget<'mysql'>['config']): Promise<TargetFacts> {
  const [server] = await query(
    `SELECT VERSION() AS version, @@global.read_only AS replica,
       (SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = '${nativePassword}') AS plugin`,
  )
  const mariadb = isMariadb(server?.version)
  const number = /(?:5\.5\.5-)?(\d+\.\d+(?:\.\d+)?)/.exec(server?.version)?.[1] ?? ''
  const name = `${mariadb ? 'MariaDB' : 'MySQL'} ${number}`
  const problem = pluginProblem(mariadb, number, server?.plugin === 'ACTIVE')
  if (problem !== null) throw new ProviderError('unsupported', `${name}: ${problem}`)
  if (Number(server?.replica) === 1)
    throw new ProviderError('unsupported', `${name}: this server is read-only, so it is a replica; use the primary`)
  await checkRights(query, mariadb)
  const notes: string[] = []
  const anonymous = await query(`SELECT Host AS host FROM mysql.user WHERE User = ''`)
  for (const { host } of anonymous)
    if (host !== '')
      notes.push(`Leases cannot sign in from ${host}, because the anonymous account ''@'${host}' comes first: drop it.`)
  if (config.accessLevel === 'custom') notes.push(...(await lacksOnObjects(query, config.connection.database)))
  return { server: name, notes }
}

async function lacksOnObjects(query: Query, database: string): Promise<string[]> {
  const rows = await query(
    `SELECT privilege_type AS name FROM information_schema.user_privileges WHERE ${isGrantee}
     UNION SELECT privilege_type FROM information_schema.schema_privileges
     WHERE ${isGrantee} AND REPLACE(table_schema, '\\\\', '') = '${database}'`,
  )
  const held = new Set(rows.map(({ name }) => String(name)))
  const lacking = rightsOnObjects.filter((right) => !held.has(right))
  if (lacking.length === 0) return []
  return [
    `The admin account lacks ${lacking.join(', ')} on ${database}. So it cannot remove views, routines, triggers and events that leases define there. They would run with the rights of a later lease of the same name.`,
  ]
}

/**
 * Checks the rights to end sessions and to find accounts. Otherwise a missing right would first show at a revocation.
 */
async function checkRights(query: Query, mariadb: boolean): Promise<void> {
  const rows = await query(`SELECT privilege_type AS name FROM information_schema.user_privileges WHERE ${isGrantee}`)
  const held = new Set(rows.map(({ name }) => String(name).replace('_', ' ')))
  const lacks = (...names: string[]) => !names.some((name) => held.has(name))
  if (lacks('CREATE USER')) throw new ProviderError('denied', 'the admin account lacks CREATE USER')
  if (lacks('PROCESS')) throw new ProviderError('denied', 'the admin account lacks PROCESS, which shows sessions')
  if (lacks('CONNECTION ADMIN', 'SUPER'))
    throw new ProviderError(
      'denied',
      `the admin account lacks ${mariadb ? 'CONNECTION ADMIN' : 'CONNECTION_ADMIN'}, which ends sessions`,
    )
  await query('SELECT User FROM mysql.user LIMIT 1')
}

/**
 * Checks the plugin that verifiers need. MariaDB has it by default, MySQL 8.4 with an option, and MySQL 9 removed it.
 */
function pluginProblem(mariadb: boolean, version: string, active: boolean): string | null {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (mariadb && (major < 10 || (major === 10 && minor < 5))) return 'versions before 10.5 are not supported'
  // MySQL 8.0.21 added account attributes.
  if (!mariadb && (major < 8 || (major === 8 && minor === 0 && patch < 21)))
    return 'versions before 8.0.21 are not supported'
  if (active) return null
  if (!mariadb && major >= 9)
    return `this version no longer has ${nativePassword}, which Skerry needs to create accounts; use MySQL 8.0 or 8.4, or MariaDB`
  return `${nativePassword} is not loaded; start the server with --mysql-native-password=ON`
}
