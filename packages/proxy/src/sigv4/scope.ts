/** A request that cannot be signed again. The message is for its sender. */
export class SigningError extends Error {
  override readonly name = 'SigningError'
  readonly reason: 'not_signed' | 'unsupported' | 'malformed' | 'hash_missing'

  constructor(reason: SigningError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** The scope of the signature that a request carries. */
export interface Scope {
  region: string
  service: string
  /** The names in lower case. */
  signedHeaders: ReadonlySet<string>
}

const form =
  /^AWS4-HMAC-SHA256 +Credential=[^/,\s]+\/\d{8}\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request *, *SignedHeaders=([a-z0-9;_.-]+) *, *Signature=[0-9a-f]{64}$/

/** Sessions of these services have keys of their own, which the proxy does not know. */
const sessionServices = new Set(['s3express'])

/** Reads the scope in which a request was signed. The new signature has the same. */
export function scopeOf(authorization: string | undefined, target: string): Scope {
  if (/[?&]X-Amz-Signature=/i.test(target))
    throw new SigningError('unsupported', 'a presigned URL cannot be signed again')
  if (authorization === undefined) throw new SigningError('not_signed', 'the request has no AWS signature')
  if (/^AWS4-ECDSA-/.test(authorization))
    throw new SigningError(
      'unsupported',
      'a request with a signature for several regions (SigV4A) cannot be signed again',
    )
  const [, region, service, signed] = form.exec(authorization) ?? []
  if (region === undefined || service === undefined || signed === undefined)
    throw new SigningError('not_signed', 'the request has no AWS Signature Version 4')
  if (sessionServices.has(service))
    throw new SigningError('unsupported', `requests to ${service} need a session key, which the proxy does not have`)
  return { region, service, signedHeaders: new Set(signed.split(';')) }
}
