import { fillTemplate } from '@skerry/contract/leases/templates'
import pg from 'pg'
import { type Admin, parseAdmin } from '../leases/connection-string.ts'
import { connectPostgres, connectPostgresAdmin, postgresFailure } from '../leases/postgres-client.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { checkAccount } from './checks.ts'
import type { Account } from './provider.ts'
import { scramVerifier } from './verifiers.ts'

const { escapeIdentifier: identifier, escapeLiteral: literal } = pg

export async function verify(account: Account<'postgres'>, outbound: Outbound): Promise<void> {
  const { username } = account
  await asAdmin(account, outbound, async (query) => {
    const { rows } = await query(
      'SELECT rolcanlogin AS login FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) $1',
      [username],
    )
    if (rows.length === 0) throw new ProviderError('missing', `there is no account ${username}`)
    if (!rows[0].login) throw new ProviderError('unsupported', `the account ${username} may not sign in (NOLOGIN)`)
  })
}

/** Open sessions continue. PostgreSQL stores one password for an account, so the previous one stops working. */
export async function change(account: Account<'postgres'>, password: string, _: string | null, outbound: Outbound) {
  const { username, config } = account
  const verifier = await scramVerifier(password)
  const usual = [`ALTER ROLE ${identifier(username)} PASSWORD ${literal(verifier)}`]
  await asAdmin(
    account,
    outbound,
    async (query) => {
      const own = config.statements?.map((statement) => fillTemplate(statement, { username, verifier }))
      // One message is one transaction, so either all statements run or none.
      await query((own ?? usual).join(';\n'))
    },
    [password, verifier],
  )
}

export async function signsIn({ target, username }: Account<'postgres'>, password: string, outbound: Outbound) {
  const { connection } = target.config
  try {
    const client = await connectPostgres(connection, connection.database, { user: username, password }, outbound)
    await client.end()
    return true
  } catch (error) {
    if (error instanceof ProviderError && error.reason === 'denied') return false
    throw error
  }
}

type Query = (text: string, values?: unknown[]) => Promise<pg.QueryResult>

async function asAdmin(
  account: Account<'postgres'>,
  outbound: Outbound,
  use: (query: Query) => Promise<void>,
  secrets: string[] = [],
): Promise<void> {
  const { connection } = account.target.config
  const admin = adminOf(account)
  checkAccount(account, admin.user)
  const client = await connectPostgresAdmin(connection, connection.database, admin, outbound)
  try {
    await use((text, values) => client.query(values === undefined ? { text } : { text, values }))
  } catch (error) {
    throw postgresFailure(error, [admin.password, ...secrets])
  } finally {
    await client.end().catch(() => {})
  }
}

function adminOf({ target }: Account<'postgres'>): Admin {
  const { host, port, database } = target.config.connection
  const protocols = ['postgres:', 'postgresql:']
  return parseAdmin(target.credential, { protocols, host, port, defaultPort: 5432, database })
}
