import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Scope } from './scope.ts'

/** A key of AWS that signs instead of the agent's own key. */
export interface SigningKey {
  accessKeyId: string
  secretAccessKey: string
  /** Only for temporary keys. */
  sessionToken?: string | undefined
}

/** The hash in the form that the signer expects. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest())
  }

  reset(): void {
    throw new Error('a hash is used once')
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}

/** S3 signs the path as it is. All other services sign it encoded once more. */
const plainPaths = new Set(['s3', 's3-outposts', 's3-object-lambda'])

export function signerOf(key: SigningKey, { region, service }: Pick<Scope, 'region' | 'service'>): SignatureV4 {
  const { accessKeyId, secretAccessKey, sessionToken } = key
  return new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    region,
    service,
    sha256: Sha256,
    uriEscapePath: !plainPaths.has(service),
    applyChecksum: false,
  })
}

export const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')
