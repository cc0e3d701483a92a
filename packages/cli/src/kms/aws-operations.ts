import { createPublicKey } from 'node:crypto'
import type { KmsSpec } from '@skerry/contract/kms/specs'
import { isNamed } from '@skerry/contract/prefixes'
import { type Bytes, decodeUtf8, encodeUtf8 } from '@skerry/crypto/base64url'
import { parsePublicKeyJwk } from '@skerry/crypto/keys'
import { signDigest, verifyDigest } from '@skerry/crypto/kms-digest'
import { formatVerifyingKey, signMessage, verifyMessage } from '@skerry/crypto/kms-sign'
import type { ManagedKey, OpenedKey, VerifyingKeys } from '@skerry/sdk/internal/kms'
import { AwsError, invalidInput } from './aws-error.ts'
import { derOf, p1363Of } from './der.ts'

/** The keys behind the gateway. */
export interface GatewayKeys {
  all(): Promise<ManagedKey[]>
  open(key: ManagedKey): Promise<OpenedKey>
  publicKeys(key: ManagedKey): Promise<VerifyingKeys>
}

export type AwsInput = Record<string, unknown>
type Operation = (keys: GatewayKeys, input: AwsInput) => Promise<object>

/** The limit of AWS. Longer data must be encrypted with a data key. */
const plaintextMaxBytes = 4096

interface AwsSpec {
  usage: 'ENCRYPT_DECRYPT' | 'SIGN_VERIFY'
  spec: string
  algorithm: string
}

const awsSpecs: Record<KmsSpec, AwsSpec> = {
  'aes-256-gcm': { usage: 'ENCRYPT_DECRYPT', spec: 'SYMMETRIC_DEFAULT', algorithm: 'SYMMETRIC_DEFAULT' },
  'ecdsa-p256-sha256': { usage: 'SIGN_VERIFY', spec: 'ECC_NIST_P256', algorithm: 'ECDSA_SHA_256' },
  ed25519: { usage: 'SIGN_VERIFY', spec: 'ECC_NIST_EDWARDS25519', algorithm: 'ED25519_SHA_512' },
}

/** The operations by their name after `TrentService.`. Every other operation is refused. */
export const operations: Readonly<Record<string, Operation>> = Object.assign(Object.create(null), {
  ListKeys: listKeys,
  DescribeKey: async (keys: GatewayKeys, input: AwsInput) => ({
    KeyMetadata: metadataOf(await find(keys, input.KeyId)),
  }),
  Encrypt: encrypt,
  Decrypt: decrypt,
  GenerateDataKey: generateDataKey,
  GenerateDataKeyWithoutPlaintext: async (keys: GatewayKeys, input: AwsInput) => {
    const { Plaintext: _, ...rest } = await generateDataKey(keys, input)
    return rest
  },
  Sign: sign,
  Verify: verify,
  GetPublicKey: getPublicKey,
})

/** Returns a page as AWS does: `Limit` from 1 to 1,000, 100 unless given, and the last id as `NextMarker`. */
async function listKeys(keys: GatewayKeys, { Limit: limit, Marker: marker }: AwsInput) {
  const take = limit ?? 100
  if (!Number.isInteger(take) || (take as number) < 1 || (take as number) > 1000)
    throw invalidInput('Limit: 1 to 1,000')
  const ids = (await keys.all()).map(({ id }) => id).sort()
  const isUnknown = marker !== undefined && marker !== null && !ids.includes(marker as string)
  if (isUnknown) throw new AwsError('InvalidMarkerException', 'Marker is not one that the gateway gave out')
  const from = marker ? ids.indexOf(marker as string) + 1 : 0
  const page = ids.slice(from, from + (take as number))
  const isTruncated = from + page.length < ids.length
  return {
    Keys: page.map((id) => ({ KeyId: id, KeyArn: arnOf(id) })),
    Truncated: isTruncated,
    ...(isTruncated ? { NextMarker: page.at(-1) } : {}),
  }
}

const arnOf = (id: string) => `arn:aws:kms:local:000000000000:key/${id}`

function metadataOf({ id, name, spec, disabled, createdAt }: ManagedKey) {
  const { usage, spec: keySpec, algorithm } = awsSpecs[spec]
  return {
    AWSAccountId: '000000000000',
    KeyId: id,
    Arn: arnOf(id),
    Description: name,
    CreationDate: Date.parse(createdAt) / 1000,
    Enabled: !disabled,
    KeyState: disabled ? 'Disabled' : 'Enabled',
    KeyUsage: usage,
    KeySpec: keySpec,
    CustomerMasterKeySpec: keySpec,
    KeyManager: 'CUSTOMER',
    Origin: 'EXTERNAL',
    MultiRegion: false,
    ...(usage === 'SIGN_VERIFY' ? { SigningAlgorithms: [algorithm] } : { EncryptionAlgorithms: [algorithm] }),
  }
}

/** Finds a key by its id, by `alias/<name>`, or by the ARN of either. */
async function find(keys: GatewayKeys, wanted: unknown): Promise<ManagedKey> {
  if (typeof wanted !== 'string' || wanted === '') throw invalidInput('KeyId is needed')
  const short = wanted.replace(/^arn:aws:kms:[^:]*:[^:]*:(?:key\/)?/, '')
  const found = (await keys.all()).find(({ id, name }) => isNamed(short, 'kmsKey', { id, name: `alias/${name}` }))
  if (!found) throw new AwsError('NotFoundException', 'there is no such key here that you hold')
  return found
}

async function openFor(keys: GatewayKeys, wanted: unknown, usage: AwsSpec['usage']): Promise<OpenedKey> {
  const key = await find(keys, wanted)
  if (awsSpecs[key.spec].usage !== usage)
    throw new AwsError('InvalidKeyUsageException', `${key.id} is not a key for ${usage}`)
  if (key.disabled) throw new AwsError('DisabledException', `${key.id} is disabled`)
  return keys.open(key)
}

async function encrypt(keys: GatewayKeys, input: AwsInput) {
  const plaintext = bytesOf(input, 'Plaintext')
  if (plaintext.length > plaintextMaxBytes) throw invalidInput('Plaintext: at most 4,096 bytes')
  checkAlgorithm(input.EncryptionAlgorithm, 'SYMMETRIC_DEFAULT')
  const key = await openFor(keys, input.KeyId, 'ENCRYPT_DECRYPT')
  const blob = await key.encrypt(plaintext, contextOf(input))
  return { CiphertextBlob: base64(encodeUtf8(blob)), KeyId: arnOf(key.keyId), EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' }
}

/** The blob names its key. If the caller names a key too, it must be the same one. */
async function decrypt(keys: GatewayKeys, input: AwsInput) {
  const blob = textOf(bytesOf(input, 'CiphertextBlob'))
  checkAlgorithm(input.EncryptionAlgorithm, 'SYMMETRIC_DEFAULT')
  const [prefix, keyId] = blob.split('.')
  if (prefix !== 'ce1' && prefix !== 'dk1') throw badCiphertext()
  if (input.KeyId !== undefined && (await find(keys, input.KeyId)).id !== keyId)
    throw new AwsError('IncorrectKeyException', 'the ciphertext was made with another key')
  const key = await openFor(keys, keyId, 'ENCRYPT_DECRYPT')
  const context = contextOf(input)
  // A data key that `skerry kms data-key` made has no context.
  if (prefix === 'dk1' && context !== '') throw badCiphertext()
  const opened = prefix === 'dk1' ? key.openDataKey(blob) : key.decrypt(blob, context)
  const plaintext = await opened.catch((error: { code?: string }) => {
    throw error.code === 'decryption_failed' || error.code === 'malformed_blob' ? badCiphertext() : error
  })
  return { Plaintext: base64(plaintext), KeyId: arnOf(key.keyId), EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' }
}

const badCiphertext = () => new AwsError('InvalidCiphertextException', 'wrong key or context, or altered ciphertext')

const dataKeyBytes: Readonly<Record<string, number>> = { AES_256: 32, AES_128: 16 }

/** The data key is encrypted as data, because its context does not fit into the `dk1.` format. */
async function generateDataKey(keys: GatewayKeys, input: AwsInput) {
  const { KeySpec: spec, NumberOfBytes: number } = input
  if ((spec === undefined) === (number === undefined)) throw invalidInput('one of KeySpec and NumberOfBytes is needed')
  const length = number ?? dataKeyBytes[String(spec)]
  if (!Number.isInteger(length) || (length as number) < 1 || (length as number) > 1024)
    throw invalidInput('KeySpec: AES_256 or AES_128; NumberOfBytes: 1 to 1,024')
  const key = await openFor(keys, input.KeyId, 'ENCRYPT_DECRYPT')
  const plaintext = crypto.getRandomValues(new Uint8Array(length as number))
  const blob = await key.encrypt(plaintext, contextOf(input))
  return { CiphertextBlob: base64(encodeUtf8(blob)), Plaintext: base64(plaintext), KeyId: arnOf(key.keyId) }
}

async function sign(keys: GatewayKeys, input: AwsInput) {
  const message = bytesOf(input, 'Message')
  const key = (await openFor(keys, input.KeyId, 'SIGN_VERIFY')).signingKey()
  const isDigest = checkMessage(input, message, key.spec)
  const raw = isDigest ? await signDigest(message, key) : await signMessage(message, key)
  const signature = key.spec === 'ed25519' ? raw : derOf(raw)
  return { Signature: base64(signature), KeyId: arnOf(key.keyId), SigningAlgorithm: awsSpecs[key.spec].algorithm }
}

/** An AWS signature does not name the version of the key, so the signature of any version is valid. */
async function verify(keys: GatewayKeys, input: AwsInput) {
  const message = bytesOf(input, 'Message')
  const signature = bytesOf(input, 'Signature')
  const key = await findSigning(keys, input.KeyId)
  const { spec, keys: versions } = await keys.publicKeys(key)
  const isDigest = checkMessage(input, message, spec)
  const raw = spec === 'ed25519' ? signature : p1363Of(signature)
  for (const { publicKeyJwk } of raw === null ? [] : versions) {
    const isValid = isDigest
      ? verifyDigest(message, raw!, parsePublicKeyJwk(publicKeyJwk))
      : await verifyMessage(message, raw!, { spec, publicKeyJwk })
    if (isValid) return { KeyId: arnOf(key.id), SignatureValid: true, SigningAlgorithm: awsSpecs[spec].algorithm }
  }
  throw new AwsError('KMSInvalidSignatureException', 'the signature is not one of this message by this key')
}

async function findSigning(keys: GatewayKeys, wanted: unknown): Promise<ManagedKey> {
  const key = await find(keys, wanted)
  if (key.purpose !== 'sign') throw new AwsError('InvalidKeyUsageException', `${key.id} is not a key for SIGN_VERIFY`)
  if (key.disabled) throw new AwsError('DisabledException', `${key.id} is disabled`)
  return key
}

async function getPublicKey(keys: GatewayKeys, input: AwsInput) {
  const key = await findSigning(keys, input.KeyId)
  const { spec, keys: versions } = await keys.publicKeys(key)
  const current = versions.find(({ version }) => version === key.currentVersion)
  if (!current) throw new AwsError('KMSInternalException', 'the server shows no public key of the current version', 500)
  const jwk = JSON.parse(formatVerifyingKey(spec, current.publicKeyJwk))
  const { usage, spec: keySpec, algorithm } = awsSpecs[spec]
  return {
    KeyId: arnOf(key.id),
    PublicKey: createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' }).toString('base64'),
    KeySpec: keySpec,
    CustomerMasterKeySpec: keySpec,
    KeyUsage: usage,
    SigningAlgorithms: [algorithm],
  }
}

/** Whether the message is a digest. */
function checkMessage(input: AwsInput, message: Bytes, spec: KmsSpec): boolean {
  checkAlgorithm(input.SigningAlgorithm, awsSpecs[spec].algorithm)
  const { MessageType: type = 'RAW' } = input
  if (type === 'RAW' && message.length <= plaintextMaxBytes) return false
  if (type === 'RAW') throw invalidInput('Message: at most 4,096 bytes; send its digest')
  if (type !== 'DIGEST') throw invalidInput('MessageType: RAW or DIGEST')
  if (spec !== 'ecdsa-p256-sha256' || message.length !== 32)
    throw invalidInput('MessageType DIGEST takes a SHA-256, and a key of ECC_NIST_P256')
  return true
}

function checkAlgorithm(asked: unknown, known: string): void {
  if (asked !== undefined && asked !== known) throw invalidInput(`the algorithm of this key is ${known}`)
}

/** Sorts the pairs by name, so that their order in the request does not matter. */
function contextOf({ EncryptionContext: context }: AwsInput): string {
  if (context === undefined || context === null) return ''
  const pairs = Object.entries(context)
  if (pairs.some(([, value]) => typeof value !== 'string')) throw invalidInput('EncryptionContext holds texts')
  if (pairs.length === 0) return ''
  return JSON.stringify(Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1))))
}

function bytesOf(input: AwsInput, name: string): Bytes {
  const text = input[name]
  if (typeof text !== 'string' || text === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw invalidInput(`${name}: base64 of at least one byte expected`)
  return new Uint8Array(Buffer.from(text, 'base64'))
}

function textOf(bytes: Bytes): string {
  try {
    return decodeUtf8(bytes)
  } catch {
    throw badCiphertext()
  }
}

const base64 = (bytes: Bytes) => Buffer.from(bytes).toString('base64')
