import { randomBytes, sign } from 'node:crypto'
import type { CaKey, PublicKey } from './ssh-keys.ts'

// OpenSSH certificates as in PROTOCOL.certkeys. They are written here, because sshpk signs with RSA by SHA-1 only,
// which OpenSSH has refused since 8.2.

export interface UserCertificate {
  key: PublicKey
  serial: bigint
  /** Appears in the log of every host that accepts the certificate. */
  keyId: string
  principals: readonly string[]
  /** Unix seconds. The end is exclusive. */
  validAfter: number
  validBefore: number
  criticalOptions: Readonly<Record<string, string>>
  extensions: readonly string[]
}

/** 64 random bits, so that no two certificates have the same serial. */
export const newSerial = () => randomBytes(8).readBigUInt64BE()

/** The certificate as one line: `<type>-cert-v01@openssh.com <base64> <key id>`. */
export function signUserCertificate(ca: CaKey, certificate: UserCertificate): string {
  const { key, keyId } = certificate
  // The types of security keys already contain the domain.
  const type = `${key.type.replace('@openssh.com', '')}-cert-v01@openssh.com`
  const body = Buffer.concat([
    text(type),
    text(randomBytes(32)),
    // The key’s own fields follow the nonce, as they follow the type in a public key.
    key.blob.subarray(4 + key.blob.readUInt32BE(0)),
    uint64(certificate.serial),
    uint32(1), // a user certificate
    text(keyId),
    text(Buffer.concat(certificate.principals.map(text))),
    uint64(BigInt(certificate.validAfter)),
    uint64(BigInt(certificate.validBefore)),
    options(Object.entries(certificate.criticalOptions)),
    options(certificate.extensions.map((name) => [name, null])),
    text(''), // reserved
    text(ca.blob),
  ])
  const signed = Buffer.concat([body, text(signature(ca, body))])
  return `${type} ${signed.toString('base64')} ${keyId}`
}

/** Encodes options in lexical order. The data of an option is encoded as a string within a string. */
function options(entries: [name: string, data: string | null][]): Buffer {
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return text(Buffer.concat(sorted.flatMap(([name, data]) => [text(name), text(data === null ? '' : text(data))])))
}

const ecdsaHashes: Readonly<Record<string, string>> = {
  'ecdsa-sha2-nistp256': 'sha256',
  'ecdsa-sha2-nistp384': 'sha384',
  'ecdsa-sha2-nistp521': 'sha512',
}

function signature({ type, privateKey }: CaKey, body: Buffer): Buffer {
  if (type === 'ssh-ed25519') return Buffer.concat([text(type), text(sign(null, body, privateKey))])
  if (type === 'ssh-rsa') return Buffer.concat([text('rsa-sha2-512'), text(sign('sha512', body, privateKey))])
  const pair = sign(ecdsaHashes[type], body, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const half = pair.length / 2
  return Buffer.concat([
    text(type),
    text(Buffer.concat([integer(pair.subarray(0, half)), integer(pair.subarray(half))])),
  ])
}

function text(value: string | Buffer): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value
  return Buffer.concat([uint32(bytes.length), bytes])
}

/** Encodes a non-negative number as an RFC 4251 `mpint`: without leading zeros, except one that keeps the sign. */
function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0)
  const trimmed = first === -1 ? Buffer.alloc(0) : bytes.subarray(first)
  return text((trimmed[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.alloc(1), trimmed]) : trimmed)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}
