import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

// A software passkey that answers as a browser's WebAuthn API does: P-256, no attestation, user present and verified.

export interface Passkey {
  credentialId: string
  privateKey: KeyObject
  publicCose: Buffer
  signCount: number
}

type Options = Record<string, unknown>
interface Where {
  origin: string
  rpId: string
}

/** Flags of authenticator data: present, verified, credential attached. */
const present = 0x01
const verified = 0x04
const attached = 0x40

export function newPasskey(): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  const coordinate = (value: string | undefined) => Buffer.from(value as string, 'base64url')
  // COSE_Key as CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}
  const publicCose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    coordinate(jwk.x),
    Buffer.from('225820', 'hex'),
    coordinate(jwk.y),
  ])
  return { credentialId: randomBytes(16).toString('base64url'), privateKey, publicCose, signCount: 0 }
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest()
const clientData = (type: string, challenge: unknown, origin: string) =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

function authenticatorData({ rpId }: Where, flags: number, signCount: number, rest = Buffer.alloc(0)): Buffer {
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(signCount)
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter, rest])
}

const answer = (passkey: Passkey, response: Record<string, unknown>) => ({
  id: passkey.credentialId,
  rawId: passkey.credentialId,
  type: 'public-key' as const,
  clientExtensionResults: {},
  response,
})

/** Returns what `navigator.credentials.create` would return for this passkey. */
export function register(passkey: Passkey, options: Options, where: Where) {
  const id = Buffer.from(passkey.credentialId, 'base64url')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(id.length)
  const rest = Buffer.concat([Buffer.alloc(16), length, id, passkey.publicCose])
  const data = authenticatorData(where, present | verified | attached, passkey.signCount, rest)
  // CBOR: {"fmt": "none", "attStmt": {}, "authData": bytes}
  const head = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex')
  const attestation = Buffer.concat([head, Buffer.from([data.length]), data])
  return answer(passkey, {
    clientDataJSON: clientData('webauthn.create', options.challenge, where.origin).toString('base64url'),
    attestationObject: attestation.toString('base64url'),
    transports: ['internal'],
  })
}

/** Returns what `navigator.credentials.get` would return for this passkey. */
export function assert(passkey: Passkey, options: Options, where: Where, { isVerified = true } = {}) {
  const client = clientData('webauthn.get', options.challenge, where.origin)
  const data = authenticatorData(where, present | (isVerified ? verified : 0), passkey.signCount)
  const signature = sign('sha256', Buffer.concat([data, sha256(client)]), passkey.privateKey)
  return answer(passkey, {
    clientDataJSON: client.toString('base64url'),
    authenticatorData: data.toString('base64url'),
    signature: signature.toString('base64url'),
  })
}
