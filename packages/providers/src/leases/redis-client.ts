import type { Socket } from 'node:net'
import { AbstractConnector, Redis } from 'ioredis'
import { type Outbound, OutboundError } from '../outbound.ts'
import { errorTextOf, fromOutbound, ProviderError } from '../provider-error.ts'
import { waitLimits } from './checks.ts'
import type { Admin } from './connection-string.ts'
import type { LeaseTarget } from './provider.ts'
import { secured, tlsSettings } from './tls.ts'

type Connection = LeaseTarget<'redis'>['config']['connection']

/** Signs in on a socket from `outbound`. */
export async function connectRedis(
  connection: Connection,
  { user, password }: Admin,
  outbound: Outbound,
): Promise<Redis> {
  const { host, port } = connection
  const { answerMs } = waitLimits(outbound)
  try {
    const socket = await outbound.connect({ host, port, timeoutMs: answerMs })
    const stream = await secured(socket, tlsSettings(connection), answerMs)
    const client = new Redis({
      Connector: connectorTo(stream, answerMs),
      ...(user === '' ? {} : { username: user }),
      password,
      commandTimeout: answerMs,
      lazyConnect: true,
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    })
    // The driver reports a refused password only here. Afterwards it reports only that the connection is closed.
    let refusal: unknown
    client.on('error', (error) => {
      refusal ??= error
    })
    try {
      await client.connect()
      await client.call('ACL', 'WHOAMI')
      return client
    } catch (error) {
      client.disconnect()
      throw refusal ?? error
    }
  } catch (error) {
    throw redisFailure(error, [password])
  }
}

/** Gives the driver its only stream. The driver cannot reconnect, because a broken session is not continued. */
function connectorTo(stream: Socket, answerMs: number) {
  return class extends AbstractConnector {
    constructor() {
      super(answerMs)
    }

    override async connect() {
      this.stream = stream
      return stream
    }
  }
}

/** Writes the accounts to the ACL file, if there is one. Without this, a restart would undo the change. */
export async function saveAccounts(client: Redis): Promise<void> {
  try {
    await client.call('ACL', 'SAVE')
  } catch (error) {
    if (!(error as Error).message.includes('not configured to use an ACL file')) throw error
  }
}

const reasons: Readonly<Record<string, ProviderError['reason']>> = {
  WRONGPASS: 'denied',
  NOAUTH: 'denied',
  NOPERM: 'denied',
}

/** Turns a refusal by the server, or a missing answer, into an error that repeats no secret. */
export function redisFailure(error: unknown, secrets: readonly string[]): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof OutboundError) return fromOutbound(error)
  const { name, message = '' } = error as { name?: string; message?: string }
  if (name !== 'ReplyError')
    return new ProviderError('unreachable', errorTextOf(message, secrets) || 'the connection was interrupted')
  const code = message.split(' ', 1)[0] ?? ''
  if (/^ERR unknown command\b.*\bACL\b/i.test(message))
    return new ProviderError('unsupported', 'the server has no accounts (ACL); use Redis 6 or newer')
  return new ProviderError(reasons[code] ?? 'failed', errorTextOf(message, secrets) ?? code)
}
