import { createHmac } from 'node:crypto'
import type { VaultConnection } from '@skerry/contract/vault/schemas'
import { type Outbound, OutboundError } from '@skerry/providers/outbound'
import type { Static } from 'typebox'
import type { Context } from '../../../http/context.ts'
import type { Webhook } from './scope.ts'

/** What came of sending once. `error` is null where it was accepted; nothing of what a receiver says is repeated. */
export interface Outcome {
  /** Of the answer; null where none came. */
  status: number | null
  error: string | null
}

interface Told {
  /** The same each time that it is delivered. */
  id: string
  type: string
  createdAt: string
  projectId: string
  /** null for a `ping`. */
  connection: Static<typeof VaultConnection> | null
}

export const bodyOf = ({ connection, ...told }: Told): string => JSON.stringify({ ...told, data: { connection } })

/** In the trail and in mails, where the path may hold what only the receiver should see. */
export const hostOf = (url: string): string => new URL(url).host

export const sealedFor = ({ orgId, id }: { orgId: string; id: string }): string => `${orgId} ${id}`

const timeoutMs = 10_000
/** Nobody reads it. */
const answerBytesMax = 64 * 1024

/** The names that published clients read stand beside Skerry's own. */
const headerPrefixes = ['skerry', 'seekrit']

/** Once, through a door that lets https out alone. A redirect is not followed: only an answer of 2xx is taken for an acceptance. */
export async function send(
  context: Context,
  door: Pick<Outbound, 'send'>,
  webhook: Webhook,
  { id, body }: { id: string; body: string },
): Promise<Outcome> {
  const timestamp = String(Math.floor(context.now().getTime() / 1000))
  const signature = createHmac('sha256', secretOf(context, webhook)).update(`${id}.${timestamp}.${body}`).digest('hex')
  const signed = { id, timestamp, signature: `v1=${signature}` }
  const headers = headerPrefixes.flatMap((prefix) =>
    Object.entries(signed).map(([name, value]) => [`${prefix}-webhook-${name}`, value] as const),
  )
  try {
    const { status } = await door.send({
      method: 'POST',
      url: webhook.url,
      headers: { ...Object.fromEntries(headers), 'content-type': 'application/json', 'user-agent': 'skerry' },
      body,
      timeoutMs,
      bytesMax: answerBytesMax,
    })
    return { status, error: status >= 200 && status < 300 ? null : `answered ${status}` }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { status: null, error: error.message }
  }
}

function secretOf({ serverKey }: Context, webhook: Webhook): string {
  const secret = serverKey?.open('vault-webhook-secret', sealedFor(webhook), webhook.sealedSecret)
  if (secret === undefined) throw new Error('the server key does not open the secret of a webhook')
  return secret
}
