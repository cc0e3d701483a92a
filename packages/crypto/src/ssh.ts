import { type Bytes, decodeBase64url, decodeUtf8, encodeUtf8 } from './base64url.ts'
import { CryptoError } from './errors.ts'
import { base64 } from './lease-verifiers.ts'
import { randomBytes } from './random.ts'

const keyType = 'ssh-ed25519'
const certificateType = 'ssh-ed25519-cert-v01@openssh.com'

/** The offset of the private scalar in the PKCS8 of an Ed25519 key, which has 48 bytes (RFC 8410). */
const pkcs8SeedAt = 16

/**
 * An Ed25519 key pair that `ssh` can use. The server signs the public key. Write the private key to a file of mode
 * 0600.
 */
export interface SshKeyPair {
  /** The public key in the format of OpenSSH: `ssh-ed25519 <base64>`. */
  publicKey: string
  /** The private key in the PEM format of OpenSSH, without a passphrase. */
  privateKey: string
}

/**
 * Makes a fresh key for one session.
 *
 * @example const { publicKey, privateKey } = await newSshKeyPair()
 */
export async function newSshKeyPair(): Promise<SshKeyPair> {
  const pair = (await crypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign', 'verify'])) as CryptoKeyPair
  const point = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey))
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey))
  const blob = joined(text(keyType), text(point))
  return {
    publicKey: `${keyType} ${base64(blob)}`,
    privateKey: privateKeyFile(blob, point, pkcs8.subarray(pkcs8SeedAt)),
  }
}

/**
 * Writes the format PROTOCOL.key of OpenSSH: no cipher, no derivation, one key, and a padding of 1, 2, 3 to a multiple
 * of 8.
 */
function privateKeyFile(blob: Bytes, point: Bytes, seed: Bytes): string {
  const check = randomBytes(4)
  const secret = joined(check, check, text(keyType), text(point), text(joined(seed, point)), text(''))
  const padding = Uint8Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, at) => at + 1)
  const head = joined(encodeUtf8('openssh-key-v1\0'), text('none'), text('none'), text(''), uint32(1))
  const lines = base64(joined(head, text(blob), text(joined(secret, padding)))).match(/.{1,70}/g) ?? []
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n')
}

/** The content of a certificate for a person's Ed25519 key (PROTOCOL.certkeys). The host verifies its signature. */
export interface SshCertificate {
  /** The key that is certified, `ssh-ed25519 <base64>`. */
  publicKey: string
  serial: bigint
  keyId: string
  principals: string[]
  /** Unix seconds. The end is exclusive. */
  validAfterSeconds: number
  validBeforeSeconds: number
  criticalOptions: string[]
  extensions: string[]
  /** The key of the authority, `<type> <base64>`. */
  caPublicKey: string
}

/**
 * Reads `ssh-ed25519-cert-v01@openssh.com <base64> [comment]`.
 *
 * @throws CryptoError `malformed_key` for anything else, including a host's certificate.
 * @example const { principals } = readSshCertificate('ssh-ed25519-cert-v01@openssh.com AAAA...')
 */
export function readSshCertificate(line: string): SshCertificate {
  const [type, encoded = ''] = line.split(' ')
  if (type !== certificateType) throw malformed('expected a certificate for an Ed25519 key')
  const fields = reader(decodeBase64url(encoded.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')))
  if (decodeUtf8(fields.string()) !== certificateType) throw malformed('the certificate has another type')
  fields.string() // nonce
  const publicKey = `${keyType} ${base64(joined(text(keyType), text(fields.string())))}`
  const serial = fields.uint64()
  if (fields.uint32() !== 1) throw malformed('the certificate is not a user certificate')
  const keyId = decodeUtf8(fields.string())
  const principals = strings(fields.string()).map(decodeUtf8)
  const [validAfterSeconds, validBeforeSeconds] = [Number(fields.uint64()), Number(fields.uint64())]
  const [criticalOptions, extensions] = [optionNames(fields.string()), optionNames(fields.string())]
  fields.string() // reserved
  const ca = fields.string()
  fields.string() // signature
  if (!fields.isAtEnd()) throw malformed('the certificate has bytes after its end')
  const caPublicKey = `${decodeUtf8(reader(ca).string())} ${base64(ca)}`
  return {
    publicKey,
    serial,
    keyId,
    principals,
    validAfterSeconds,
    validBeforeSeconds,
    criticalOptions,
    extensions,
    caPublicKey,
  }
}

const malformed = (detail: string) => new CryptoError('malformed_key', detail)

function reader(bytes: Bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const take = (length: number) => {
    if (at + length > bytes.length) throw malformed('the end of the certificate is missing')
    at += length
    return at - length
  }
  return {
    uint32: () => view.getUint32(take(4)),
    uint64: () => view.getBigUint64(take(8)),
    string: () => {
      const length = view.getUint32(take(4))
      const start = take(length)
      return bytes.subarray(start, start + length)
    },
    isAtEnd: () => at === bytes.length,
  }
}

function strings(bytes: Bytes): Bytes[] {
  const fields = reader(bytes)
  const all: Bytes[] = []
  while (!fields.isAtEnd()) all.push(fields.string())
  return all
}

/** Returns the names of options. In the encoding, names and their data alternate. */
const optionNames = (bytes: Bytes) => strings(bytes).flatMap((one, index) => (index % 2 === 0 ? decodeUtf8(one) : []))

function text(value: string | Bytes): Bytes {
  const bytes = typeof value === 'string' ? encodeUtf8(value) : value
  return joined(uint32(bytes.length), bytes)
}

function uint32(value: number): Bytes {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

function joined(...parts: Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
