import { OutboundError } from '@skerry/providers/outbound'

type Reason = OutboundError['reason']

/** Node's error codes, with texts for the admin who configured the target. */
const known: Record<string, readonly [Reason, string]> = {
  ECONNREFUSED: ['unreachable', 'the connection was refused'],
  ECONNRESET: ['unreachable', 'the connection was closed'],
  EPIPE: ['unreachable', 'the connection was closed'],
  EHOSTUNREACH: ['unreachable', 'there is no route to it'],
  ENETUNREACH: ['unreachable', 'there is no route to it'],
  ETIMEDOUT: ['timeout', 'it did not answer in time'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['tls', 'its certificate is for another name'],
  CERT_HAS_EXPIRED: ['tls', 'its certificate has expired'],
  CERT_NOT_YET_VALID: ['tls', 'its certificate is not valid yet'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['tls', 'its certificate is not trusted'],
  SELF_SIGNED_CERT_IN_CHAIN: ['tls', 'its certificate is not trusted'],
  UNABLE_TO_GET_ISSUER_CERT: ['tls', 'its certificate is not trusted'],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['tls', 'its certificate is not trusted'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['tls', 'its certificate is not trusted'],
  EPROTO: ['tls', 'it does not speak TLS as expected'],
}

const families: readonly (readonly [RegExp, Reason, string])[] = [
  [/^(ERR_SSL_|ERR_TLS_|CERT_)/, 'tls', 'it does not speak TLS as expected'],
  [/^HPE_/, 'unreadable', 'its answer is not HTTP'],
  [
    /^ERR_(INVALID_CHAR|INVALID_HTTP_TOKEN|HTTP_INVALID_HEADER_VALUE|UNESCAPED_CHARACTERS)$/,
    'unsendable',
    'the request has a header that cannot be sent',
  ],
]

/**
 * Converts an error to one that says what happened and where. An error of Node may repeat a header, an address or a
 * certificate. So neither its message nor the error itself (as a cause) is passed on.
 */
export function outboundError(
  error: unknown,
  target: string,
  limits: { deadline: AbortSignal; signal?: AbortSignal | undefined },
): OutboundError {
  if (error instanceof OutboundError) return error
  if (limits.deadline.aborted) return new OutboundError('timeout', `${target}: it did not answer in time`)
  if (limits.signal?.aborted) return new OutboundError('aborted', `${target}: the call was given up`)
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  const found = known[code] ?? families.find(([pattern]) => pattern.test(code))?.slice(1)
  const [reason, text] = (found ?? ['unreachable', 'the connection failed']) as readonly [Reason, string]
  return new OutboundError(reason, `${target}: ${text}`)
}
