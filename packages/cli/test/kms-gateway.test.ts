import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  DecryptCommand,
  DescribeKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  GetPublicKeyCommand,
  KMSClient,
  ListKeysCommand,
  SignCommand,
  VerifyCommand,
} from '@aws-sdk/client-kms'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// The unmodified AWS SDK uses `skerry kms gateway`. Only its endpoint and its access key are set.

let server: Server
let machine: Machine
let running: ReturnType<Machine['start']>
let endpoint: string
let client: KMSClient
let credentials: { accessKeyId: string; secretAccessKey: string }
const text = new TextEncoder()

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Gateway Org')
  const made = await machine.shell(
    'skerry kms create billing && skerry kms create releases --spec ecdsa-p256-sha256 && skerry kms create ed --spec ed25519',
  )
  expect(made.code, made.stderr).toBe(0)
  running = machine.start(['kms', 'gateway', '--port', '0'])
  let told = ''
  running.child.stderr!.on('data', (chunk) => {
    told += chunk
  })
  await running.tells('AWS_REGION')
  endpoint = /AWS_ENDPOINT_URL_KMS=(\S+)/.exec(told)![1]!
  const file = readFileSync(/AWS_SHARED_CREDENTIALS_FILE=(\S+)/.exec(told)![1]!, 'utf8')
  const field = (name: string) => new RegExp(`^${name} = (\\S+)$`, 'm').exec(file)![1]!
  credentials = { accessKeyId: field('aws_access_key_id'), secretAccessKey: field('aws_secret_access_key') }
  expect(told).not.toContain(credentials.secretAccessKey)
  client = open()
})
afterAll(async () => {
  client.destroy()
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
  await machine.remove()
  await server.close()
})

const open = (more: object = {}) => new KMSClient({ endpoint, region: 'local', credentials, maxAttempts: 1, ...more })

describe('a key that encrypts', () => {
  it('decrypts its ciphertexts only in the same context', async () => {
    const EncryptionContext = { tenant: '17', use: 'card' }
    const { CiphertextBlob } = await client.send(
      new EncryptCommand({ KeyId: 'alias/billing', Plaintext: text.encode('secret'), EncryptionContext }),
    )
    const reordered = { use: 'card', tenant: '17' }
    const opened = await client.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: reordered }))
    expect(new TextDecoder().decode(opened.Plaintext)).toBe('secret')
    for (const context of [undefined, { ...EncryptionContext, tenant: '18' }])
      await expect(
        client.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: context })),
      ).rejects.toMatchObject({ name: 'InvalidCiphertextException' })
    await expect(
      client.send(new DecryptCommand({ CiphertextBlob, KeyId: 'alias/releases', EncryptionContext })),
    ).rejects.toMatchObject({ name: 'IncorrectKeyException' })
  })

  it('decrypts on the command line what the gateway encrypted, and the other way round', async () => {
    const { CiphertextBlob } = await client.send(
      new EncryptCommand({ KeyId: 'alias/billing', Plaintext: text.encode('there') }),
    )
    const input = new TextDecoder().decode(CiphertextBlob)
    expect((await machine.skerry(['kms', 'decrypt', 'billing'], { input })).stdout).toBe('there')
    const back = (await machine.skerry(['kms', 'encrypt', 'billing'], { input: 'back' })).stdout.trim()
    const { Plaintext } = await client.send(new DecryptCommand({ CiphertextBlob: text.encode(back) }))
    expect(new TextDecoder().decode(Plaintext)).toBe('back')
  })

  it('makes data keys, with and without showing them', async () => {
    const EncryptionContext = { file: 'a' }
    const made = await client.send(
      new GenerateDataKeyCommand({ KeyId: 'alias/billing', KeySpec: 'AES_256', EncryptionContext }),
    )
    const { CiphertextBlob } = made
    const opened = await client.send(new DecryptCommand({ CiphertextBlob, EncryptionContext }))
    expect([opened.Plaintext!.length, opened.Plaintext]).toEqual([32, made.Plaintext])
    const hidden = await client.send(
      new GenerateDataKeyWithoutPlaintextCommand({ KeyId: 'alias/billing', NumberOfBytes: 64 }),
    )
    expect(hidden).not.toHaveProperty('Plaintext')
    const { Plaintext } = await client.send(new DecryptCommand({ CiphertextBlob: hidden.CiphertextBlob }))
    expect(Plaintext).toHaveLength(64)
  })
})

describe('a key that signs', () => {
  const Message = text.encode('a message')
  const digest = new Uint8Array(createHash('sha256').update(Message).digest())

  it('signs a message or its digest, and each signature verifies for both and with the exported public key', async () => {
    const KeyId = 'alias/releases'
    const SigningAlgorithm = 'ECDSA_SHA_256' as const
    const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId }))
    const key = createPublicKey({ key: Buffer.from(PublicKey!), format: 'der', type: 'spki' })
    const raw = { KeyId, SigningAlgorithm, Message, MessageType: 'RAW' as const }
    const hashed = { KeyId, SigningAlgorithm, Message: digest, MessageType: 'DIGEST' as const }
    for (const one of [raw, hashed]) {
      const { Signature } = await client.send(new SignCommand(one))
      expect(verify('sha256', Message, key, Signature!)).toBe(true)
      for (const as of [raw, hashed])
        expect((await client.send(new VerifyCommand({ ...as, Signature }))).SignatureValid).toBe(true)
      await expect(
        client.send(new VerifyCommand({ ...raw, Message: text.encode('another'), Signature })),
      ).rejects.toMatchObject({ name: 'KMSInvalidSignatureException' })
    }
  })

  it('of Ed25519 signs messages, and refuses a digest', async () => {
    const KeyId = 'alias/ed'
    const SigningAlgorithm = 'ED25519_SHA_512' as const
    const { Signature } = await client.send(new SignCommand({ KeyId, SigningAlgorithm, Message, MessageType: 'RAW' }))
    const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId }))
    const key = createPublicKey({ key: Buffer.from(PublicKey!), format: 'der', type: 'spki' })
    expect(verify(null, Message, key, Signature!)).toBe(true)
    const hashed = { KeyId, SigningAlgorithm, Message: digest, MessageType: 'DIGEST' as const }
    await expect(client.send(new SignCommand(hashed))).rejects.toMatchObject({ name: 'ValidationException' })
  })
})

it('the gateway lists and describes the keys', async () => {
  const { Keys } = await client.send(new ListKeysCommand({}))
  expect(Keys).toHaveLength(3)
  const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId: 'alias/releases' }))
  expect(KeyMetadata).toMatchObject({ KeyUsage: 'SIGN_VERIFY', KeySpec: 'ECC_NIST_P256', Enabled: true })
  expect(KeyMetadata!.CreationDate).toBeInstanceOf(Date)
  const byArn = await client.send(new DescribeKeyCommand({ KeyId: KeyMetadata!.Arn }))
  expect(byArn.KeyMetadata!.KeyId).toBe(KeyMetadata!.KeyId)
  await expect(client.send(new DescribeKeyCommand({ KeyId: 'alias/nothing' }))).rejects.toMatchObject({
    name: 'NotFoundException',
  })
})

it('the gateway accepts unsupported fields with an empty value, and refuses them with another value', async () => {
  const input = { KeyId: 'alias/billing', Plaintext: text.encode('x') }
  const { CiphertextBlob } = await client.send(new EncryptCommand({ ...input, DryRun: false }))
  const opened = await client.send(new DecryptCommand({ CiphertextBlob, GrantTokens: [], DryRun: false }))
  expect(opened.Plaintext).toEqual(text.encode('x'))
  for (const more of [{ DryRun: true }, { GrantTokens: ['a'] }])
    await expect(client.send(new EncryptCommand({ ...input, ...more }))).rejects.toMatchObject({
      name: 'UnsupportedOperationException',
    })
})

it('the gateway lists the keys in pages', async () => {
  const all = (await client.send(new ListKeysCommand({}))).Keys!.map(({ KeyId }) => KeyId)
  const first = await client.send(new ListKeysCommand({ Limit: 2 }))
  expect([first.Keys!.length, first.Truncated]).toEqual([2, true])
  const rest = await client.send(new ListKeysCommand({ Limit: 2, Marker: first.NextMarker! }))
  expect([rest.Truncated, rest.NextMarker]).toEqual([false, undefined])
  expect([...first.Keys!, ...rest.Keys!].map(({ KeyId }) => KeyId)).toEqual(all)
  const wrong = (more: object) => client.send(new ListKeysCommand(more))
  for (const Limit of [0, 1001]) await expect(wrong({ Limit })).rejects.toMatchObject({ name: 'ValidationException' })
  await expect(wrong({ Marker: 'kms_unknown' })).rejects.toMatchObject({ name: 'InvalidMarkerException' })
})

describe('the gateway refuses', () => {
  it.each([
    [
      'another secret',
      () => ({ credentials: { ...credentials, secretAccessKey: 'x'.repeat(43) } }),
      'InvalidSignatureException',
    ],
    [
      'another id',
      () => ({ credentials: { ...credentials, accessKeyId: 'AKIAIOSFODNN7EXAMPLE' } }),
      'UnrecognizedClientException',
    ],
    ['a clock that is an hour ahead', () => ({ systemClockOffset: 3_600_000 }), 'InvalidSignatureException'],
  ])('a request with %s', async (_, more, name) => {
    const wrong = open(more())
    await expect(wrong.send(new ListKeysCommand({}))).rejects.toMatchObject({ name })
    wrong.destroy()
  })

  it.each([
    [3_600_000, 'Signature not yet current: '],
    [-3_600_000, 'Signature expired: '],
  ])('a clock that is %i ms off with the message of AWS, so that the SDK corrects it', async (offset, words) => {
    const once = open({ systemClockOffset: offset })
    await expect(once.send(new ListKeysCommand({}))).rejects.toThrow(words)
    once.destroy()
    const wrong = open({ maxAttempts: 2 })
    // The gateway is a process of its own, with the right time.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offset })
    try {
      expect((await wrong.send(new ListKeysCommand({}))).Keys).toHaveLength(3)
    } finally {
      vi.useRealTimers()
      wrong.destroy()
    }
  })

  it('a page in a browser', async () => {
    const headers = { 'x-amz-target': 'TrentService.ListKeys', 'content-type': 'text/plain' }
    const answer = await fetch(endpoint, { method: 'POST', headers, body: '{}' })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })
})

it('the gateway stops using a disabled key within seconds', async () => {
  await machine.skerry(['kms', 'disable', 'billing', '--yes'])
  const encrypt = () =>
    client.send(new EncryptCommand({ KeyId: 'alias/billing', Plaintext: text.encode('x') })).then(
      () => 'encrypted',
      (error: Error) => error.name,
    )
  await expect.poll(encrypt, { interval: 250 }).toBe('DisabledException')
})
