import type { SyncConfig } from '@skerry/contract/sync/providers'
import { handlerOn } from '../aws.ts'
import { type Outbound, OutboundError } from '../outbound.ts'
import { errorTextOf, fromOutbound, ProviderError } from '../provider-error.ts'
import { headerCredential } from './checks.ts'
import type { SyncConnection } from './provider.ts'

type AwsTag = 'cloud-a-secrets-manager' | 'cloud-a-parameter-store'

/**
 * Returns the settings of an AWS client. The SDK signs requests and reads errors, `outbound` sends, and the caller
 * retries.
 */
export function awsClient<T extends AwsTag>(connection: SyncConnection<T>, service: string, outbound: Outbound) {
  const { region, accessKeyId, provider } = connection.config as SyncConfig<AwsTag>
  const own = `https://${service}.${region}.amazonaws.com`
  const origin = outbound.origin(provider, own)
  return {
    region,
    credentials: { accessKeyId, secretAccessKey: headerCredential(connection.credential) },
    // The caller of an adapter retries.
    maxAttempts: 1,
    // Without an endpoint, the SDK chooses the host, because it knows the hosts of every partition.
    ...(origin === own ? {} : { endpoint: origin }),
    requestHandler: handlerOn(outbound, 20_000),
  }
}

const reasons: Readonly<Record<string, [ProviderError['reason'], retryAfterMs?: number]>> = {
  AccessDeniedException: ['denied'],
  ExpiredTokenException: ['denied'],
  InvalidSignatureException: ['denied'],
  SignatureDoesNotMatch: ['denied'],
  UnrecognizedClientException: ['denied'],
  InvalidParameterException: ['invalid'],
  ValidationException: ['invalid'],
  ResourceExistsException: ['exists'],
  ParameterAlreadyExists: ['exists'],
  ResourceNotFoundException: ['missing'],
  ParameterNotFound: ['missing'],
  InternalServerError: ['unreachable', 2000],
  InternalServiceError: ['unreachable', 2000],
  ServiceUnavailable: ['unreachable', 2000],
  RequestLimitExceeded: ['rate_limited', 2000],
  Throttling: ['rate_limited', 2000],
  ThrottlingException: ['rate_limited', 2000],
  TooManyRequestsException: ['rate_limited', 2000],
  // Somebody else is writing the same parameter.
  TooManyUpdates: ['failed', 1000],
}

/**
 * A refusal with AWS’s own name for it. One `reason` covers several of these names, and callers handle some of the
 * names.
 */
export class AwsRefusal extends ProviderError {
  readonly code: string

  constructor(code: string, reason: ProviderError['reason'], message: string, retryAfterMs?: number) {
    super(reason, message, retryAfterMs)
    this.code = code
  }
}

/**
 * Returns the answer of an operation, or throws an `AwsRefusal`.
 * @param secrets values that were sent and must not appear in an error
 */
export async function asked<T>(sent: Promise<T>, secrets: readonly string[]): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof OutboundError) throw fromOutbound(error)
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } }
    if ($metadata === undefined) throw new ProviderError('failed', 'the answer cannot be read')
    const [reason, retryAfterMs] = reasons[name] ?? [($metadata.httpStatusCode ?? 0) >= 500 ? 'unreachable' : 'failed']
    const errorText = errorTextOf(message, secrets)
    throw new AwsRefusal(
      name,
      reason,
      errorText === null || errorText === '' ? name : `${name}: ${errorText}`,
      retryAfterMs,
    )
  }
}
