import { createPrivateKey, type KeyObject } from 'node:crypto'
import sshpk from 'sshpk'
import { ProviderError } from '../provider-error.ts'
import { readSecurityKey, securityKeyTypes } from './ssh-security-keys.ts'

export interface PublicKey {
  /** A key type as in RFC 4253, such as `ssh-ed25519`. */
  type: string
  /** The key in wire format: its type, then its fields. */
  blob: Buffer
}

export interface CaKey extends PublicKey {
  privateKey: KeyObject
}

const types = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']

const rsaBitsMin = 3072

/**
 * Reads `type base64 comment`. Refuses certificates, because their contents would be signed again. Refuses DSA as
 * broken.
 */
export function readPublicKey(text: string, field: string): PublicKey {
  const refuse = (why: string) => new ProviderError('invalid', `${field}: ${why}`)
  const [type = '', base64 = ''] = text.split(' ')
  if (/-cert-v\d/.test(type)) throw refuse('is a certificate; send the public key itself')
  if (securityKeyTypes.includes(type)) {
    const blob = readSecurityKey(type, base64)
    if (!blob) throw refuse('cannot be read')
    return { type, blob }
  }
  if (!types.includes(type)) throw refuse(`must be a key of the types ${[...types, ...securityKeyTypes].join(', ')}`)
  const key = attempt(() => sshpk.parseKey(text, 'ssh'))
  if (!key) throw refuse('cannot be read')
  const blob = key.toBuffer('rfc4253')
  if (wireType(blob) !== type) throw refuse('does not have the type that it states')
  if (key.type === 'rsa' && key.size < rsaBitsMin) throw refuse(`an RSA key needs at least ${rsaBitsMin} bits`)
  return { type, blob }
}

/** Reads an OpenSSH or PEM private key without a passphrase. */
export function readCaKey(text: string): CaKey {
  const refuse = (why: string) => new ProviderError('invalid', `certificate authority key: ${why}`)
  const key = attempt(() => sshpk.parsePrivateKey(text, 'auto'))
  if (!key) throw refuse('cannot be read, or is protected by a passphrase')
  const blob = key.toPublic().toBuffer('rfc4253')
  const type = wireType(blob)
  if (!types.includes(type)) throw refuse(`must be a key of the types ${types.join(', ')}`)
  if (key.type === 'rsa' && key.size < rsaBitsMin) throw refuse(`an RSA key needs at least ${rsaBitsMin} bits`)
  return { type, blob, privateKey: signingKey(key) }
}

/**
 * sshpk drops zeros at the beginning of an Ed25519 seed when it writes PKCS #8. Ed25519 keys are therefore read from a
 * JWK.
 */
function signingKey(key: sshpk.PrivateKey): KeyObject {
  if (key.type !== 'ed25519') return createPrivateKey(key.toString('pkcs8'))
  const part = (name: string) => key.parts.find((one) => one.name === name)?.data.toString('base64url') ?? ''
  return createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d: part('k'), x: part('A') } })
}

const wireType = (blob: Buffer) => blob.subarray(4, 4 + blob.readUInt32BE(0)).toString('latin1')

/** Hides the parser's errors, because they repeat parts of the text. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
