import { createHmac } from 'node:crypto'
import type { VaultConnection } from '@skerry/contract/vault/schemas'
import { type Outbound, OutboundError } from '@skerry/providers/outbound'
import type { Static } from 'typebox'
import type { Context } from '../../../http/context.ts'
import type { Webhook } from './scope.ts'

/** The result of sending once. `error` is null if the receiver accepted it. The receiver's text is never repeated. */
export interface Outcome {
  /** The HTTP status of the answer, or null if none came. */
  status: number | null
  error: string | null
}

interface Told {
  /** The id is the same for every attempt. */
  id: string
  type: string
  createdAt: string
  projectId: string
  /** null for a `ping`. */
  connection: Static<typeof VaultConnection> | null
}

export const bodyOf = ({ connection, ...told }: Told): string => JSON.stringify({ ...told, data: { connection } })

/** The audit log and mails name only the host, because the path may hold a secret of the receiver. */
export const hostOf = (url: string): string => new URL(url).host

export const sealedFor = ({ orgId, id }: { orgId: string; id: string }): string => `${orgId} ${id}`

const timeoutMs = 10_000
/** The largest accepted answer. Nobody reads its body. */
const answerBytesMax = 64 * 1024

/** Published clients read the `seekrit` headers, so both sets are sent. */
const headerPrefixes = ['skerry', 'seekrit']

/** Sends a delivery once, over https only. Redirects are not followed, and only an answer of 2xx counts as accepted. */
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
