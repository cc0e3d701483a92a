import { fillTemplate } from '@skerry/contract/leases/templates'
import type { RowDataPacket } from 'mysql2/promise'
import { waitLimits } from '../leases/checks.ts'
import { type Admin, parseAdmin } from '../leases/connection-string.ts'
import { connectMysql, connectMysqlAdmin, MysqlFailure, mysqlFailure } from '../leases/mysql-client.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { checkAccount } from './checks.ts'
import type { Account } from './provider.ts'
import { nativePasswordHash } from './verifiers.ts'

const PLUGIN = 'mysql_native_password'
/**
 * Plugins that this one may replace. Accounts with other plugins have no password (a socket, LDAP), or need a stronger
 * plugin.
 */
const replaceable = [PLUGIN, 'caching_sha2_password', '']

export async function verify(account: Account<'mysql'>, outbound: Outbound): Promise<void> {
  const { username } = account
  const userHost = hostOf(account)
  await asAdmin(account, outbound, async (query) => {
    const [active] = await query(
      `SELECT plugin_status AS status FROM information_schema.plugins WHERE plugin_name = '${PLUGIN}'`,
    )
    if (active?.status !== 'ACTIVE')
      throw new ProviderError(
        'unsupported',
        `this server has not loaded ${PLUGIN}, which Skerry needs to set a password`,
      )
    const rows = await query(`SELECT plugin FROM mysql.user WHERE User = '${username}' AND Host = '${userHost}'`)
    const name = `'${username}'@'${userHost}'`
    if (!rows[0]) throw new ProviderError('missing', `there is no account ${name}`)
    if (!replaceable.includes(String(rows[0].plugin)))
      throw new ProviderError(
        'unsupported',
        `the account ${name} signs in with ${rows[0].plugin}, which Skerry cannot rotate`,
      )
  })
}

/** The host, spelled as the server stores it. */
const hostOf = ({ config }: Account<'mysql'>): string => config.userHost.toLowerCase()

/** Open sessions continue. The account has one password, so the previous one stops working. */
export async function change(account: Account<'mysql'>, password: string, _: string | null, outbound: Outbound) {
  const { username, config } = account
  const userHost = hostOf(account)
  const verifier = nativePasswordHash(password)
  const usual = [`ALTER USER '${username}'@'${userHost}' IDENTIFIED WITH ${PLUGIN} AS '${verifier}'`]
  await asAdmin(
    account,
    outbound,
    async (query) => {
      const own = config.statements?.map((statement) => fillTemplate(statement, { username, userHost, verifier }))
      for (const statement of own ?? usual) await query(statement)
    },
    [password, verifier],
  )
}

/** `Access denied to database`: the server answers this only if the password was right. */
const deniedDatabase = 1044

export async function signsIn({ target, username }: Account<'mysql'>, password: string, outbound: Outbound) {
  try {
    const connection = await connectMysql(target.config.connection, { user: username, password }, outbound)
    connection.destroy()
    return true
  } catch (error) {
    if (error instanceof MysqlFailure && error.errno === deniedDatabase) return true
    if (error instanceof ProviderError && error.reason === 'denied') return false
    throw error
  }
}

type Query = (sql: string) => Promise<RowDataPacket[]>

async function asAdmin(
  account: Account<'mysql'>,
  outbound: Outbound,
  use: (query: Query) => Promise<void>,
  secrets: string[] = [],
): Promise<void> {
  const admin = adminOf(account)
  checkAccount(account, admin.user)
  const connection = await connectMysqlAdmin(account.target.config.connection, admin, outbound)
  const { answerMs } = waitLimits(outbound)
  try {
    await use(async (sql) => (await connection.query<RowDataPacket[]>({ sql, timeout: answerMs }))[0])
  } catch (error) {
    throw mysqlFailure(error, [admin.password, ...secrets])
  } finally {
    connection.destroy()
  }
}

function adminOf({ target }: Account<'mysql'>): Admin {
  const { host, port, database } = target.config.connection
  const protocols = ['mysql:', 'mariadb:']
  return parseAdmin(target.credential, { protocols, host, port, defaultPort: 3306, database })
}
