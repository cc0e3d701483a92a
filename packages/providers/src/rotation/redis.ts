import { fillTemplate } from '@skerry/contract/leases/templates'
import type { Redis } from 'ioredis'
import { type Admin, parseAdmin } from '../leases/connection-string.ts'
import { connectRedis, redisFailure, saveAccounts } from '../leases/redis-client.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { checkAccount } from './checks.ts'
import type { Account } from './provider.ts'
import { sha256Hex } from './verifiers.ts'

export async function verify(account: Account<'redis'>, outbound: Outbound): Promise<void> {
  const { username } = account
  await asAdmin(account, outbound, async (client) => {
    if ((await client.call('ACL', 'GETUSER', username)) === null)
      throw new ProviderError('missing', `there is no account ${username}`)
  })
}

/**
 * An account of Redis can have several passwords. The one that the application uses now (`keep`) stays valid until the
 * next rotation. If it is unknown, as at a first rotation, all existing passwords stay.
 */
export async function change(account: Account<'redis'>, password: string, keep: string | null, outbound: Outbound) {
  const { username, config } = account
  const verifier = sha256Hex(password)
  const kept = keep === null ? [] : ['resetpass', `#${sha256Hex(keep)}`]
  const usual = [['ACL', 'SETUSER', username, ...kept, `#${verifier}`]]
  await asAdmin(
    account,
    outbound,
    async (client) => {
      // SETUSER on an account that does not exist would create it.
      if ((await client.call('ACL', 'GETUSER', username)) === null)
        throw new ProviderError('missing', `there is no account ${username}`)
      const own = config.statements?.map((one) =>
        one.split(' ').map((word) => fillTemplate(word, { username, verifier })),
      )
      for (const [command = '', ...words] of own ?? usual) await client.call(command, ...words)
      await saveAccounts(client)
    },
    [password, verifier],
  )
}

export async function signsIn({ target, username }: Account<'redis'>, password: string, outbound: Outbound) {
  try {
    const client = await connectRedis(target.config.connection, { user: username, password }, outbound)
    client.disconnect()
    return true
  } catch (error) {
    if (!(error instanceof ProviderError) || error.reason !== 'denied') throw error
    // An account that may not run ACL WHOAMI has signed in all the same.
    return error.message.startsWith('NOPERM')
  }
}

async function asAdmin(
  account: Account<'redis'>,
  outbound: Outbound,
  use: (client: Redis) => Promise<void>,
  secrets: string[] = [],
): Promise<void> {
  const admin = adminOf(account)
  checkAccount(account, admin.user === '' ? 'default' : admin.user)
  const client = await connectRedis(account.target.config.connection, admin, outbound)
  try {
    await use(client)
  } catch (error) {
    throw redisFailure(error, [admin.password, ...secrets])
  } finally {
    client.disconnect()
  }
}

function adminOf({ target }: Account<'redis'>): Admin {
  const { host, port } = target.config.connection
  const protocols = ['redis:', 'rediss:']
  return parseAdmin(target.credential, {
    protocols,
    host,
    port,
    defaultPort: 6379,
    database: null,
    isUserOptional: true,
  })
}
