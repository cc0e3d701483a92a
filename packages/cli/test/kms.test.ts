import { randomBytes } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { isSigned, makeSealed, makeSignature, openSealed, type PublishedPlace, readKey } from './published-kms.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine
let other: Machine
let otherId: string
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Kms Org')
  const made = JSON.parse((await ok(['token', 'create', '--admin', '--name', 'other', '--json'])).stdout)
  otherId = made.serviceToken.id
  other = await newMachine(server.url)
  other.env.SKERRY_TOKEN = made.token
})
afterAll(async () => {
  await Promise.all([machine.remove(), other.remove()])
  await server.close()
})

const ok = async (args: string[], input?: string | Buffer, on = machine) => {
  const ended = await on.skerry(args, input === undefined ? {} : { input })
  expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)])
  return ended
}
const path = (name: string) => join(machine.project, name)
const kms = async (line: string, input?: string | Buffer, on = machine) =>
  (await ok(['kms', ...line.split(' ')], input, on)).stdout

describe('encryption:', () => {
  it('a blob of version 1 opens after two rotations, only for a holder of that version and only in its context', async () => {
    await kms('create billing')
    const blob = await kms('encrypt billing --context customer/17', 'secret')
    expect(blob).toMatch(/^ce1\.kms_\w{22}\.1\.[\w-]+\.[\w-]+\n$/)
    await kms('rotate billing --yes')
    await kms(`grant billing --token ${otherId}`)
    await kms('rotate billing --yes')
    expect(await kms('decrypt billing --context customer/17', blob)).toBe('secret')
    expect((await machine.skerry(['kms', 'decrypt', 'billing'], { input: blob })).stderr).toContain(
      'the input cannot be decrypted: the key, its version or --context is wrong, or the ciphertext was changed',
    )
    const newer = await kms('encrypt billing', 'newer')
    expect(newer).toContain('.3.')
    expect(await kms('decrypt billing', newer, other)).toBe('newer')
    const { code, stderr } = await other.skerry(['kms', 'decrypt', 'billing', '--context', 'customer/17'], {
      input: blob,
    })
    expect([code, stderr]).toEqual([3, expect.stringContaining('you do not hold version 1 of this key')])
  })

  it.each([
    ['empty', 0],
    ['of one byte more than fits into a line', 65_537],
    ['of exactly one chunk', 1_048_576],
    ['of several chunks', 3_500_000],
  ])('a file that is %s decrypts to the same bytes', async (_, length) => {
    await kms(`create files-${length}`)
    const bytes = randomBytes(length)
    await writeFile(path('plain'), bytes)
    await kms(`encrypt files-${length} --file plain --out sealed --force`)
    expect((await stat(path('sealed'))).mode & 0o777).toBe(0o600)
    await kms(`decrypt files-${length} --file sealed --out back --force`)
    expect((await readFile(path('back'))).equals(bytes)).toBe(true)
    await machine.shell(
      `skerry kms encrypt files-${length} < plain > piped && skerry kms decrypt files-${length} < piped > back`,
    )
    expect((await readFile(path('back'))).equals(bytes)).toBe(true)
  })

  it('a file that was cut, appended to, reordered or altered does not open, and the existing output file stays', async () => {
    await kms('create damage')
    await writeFile(path('plain'), randomBytes(3 * 1_048_576))
    await kms('encrypt damage --file plain --out sealed --force')
    const sealed = await readFile(path('sealed'))
    const head = sealed.indexOf(10) + 1
    const [one, two, three] = [0, 1, 2].map((at) => sealed.subarray(head + at * 1_048_592, head + (at + 1) * 1_048_592))
    const start = sealed.subarray(0, head)
    const altered = Buffer.from(sealed)
    altered[head + 1_500_000]! ^= 1
    const spoilt = [
      [start, one!, two!],
      [start, one!],
      [start],
      [sealed.subarray(0, -1)],
      [sealed, Buffer.from([0])],
      [sealed, three!],
      [start, two!, one!, three!],
      [start, one!, three!],
      [altered],
    ]
    await writeFile(path('kept'), 'kept')
    for (const parts of spoilt) {
      await writeFile(path('spoilt'), Buffer.concat(parts))
      const ended = await machine.skerry(['kms', 'decrypt', 'damage', '--file', 'spoilt', '--out', 'kept', '--force'])
      expect(ended.code).toBe(1)
      expect(await machine.read('kept')).toBe('kept')
    }
    expect((await machine.shell('ls')).stdout).not.toContain('kept.')
  })

  it('a data key comes with its wrapped form, which opens to the same key', async () => {
    await kms('create data')
    const wrapped = await kms('data-key data --out key')
    expect(wrapped).toMatch(/^dk1\./)
    expect((await readFile(path('key'))).length).toBe(32)
    await kms('decrypt data --out again', wrapped)
    expect((await readFile(path('again'))).equals(await readFile(path('key')))).toBe(true)
  })

  it('a key that is disabled, deleted or of another purpose is refused', async () => {
    await kms('create ending')
    await kms('create signing --spec ed25519')
    await kms('disable ending --yes')
    const refused = await machine.skerry(['kms', 'encrypt', 'ending'], { input: 'x' })
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('this key is disabled')])
    await kms('enable ending')
    await kms('rm ending --yes')
    expect((await machine.skerry(['kms', 'encrypt', 'ending'], { input: 'x' })).code).toBe(4)
    expect((await machine.skerry(['kms', 'encrypt', 'signing'], { input: 'x' })).code).toBe(3)
  })
})

describe('signatures:', () => {
  it.each(['ecdsa-p256-sha256', 'ed25519'])(
    'a message signed with %s verifies, also after a rotation, and another message does not',
    async (spec) => {
      await kms(`create ${spec}-key --spec ${spec}`)
      await writeFile(path('message'), 'a message')
      await kms(`sign ${spec}-key --file message --out signature --force`)
      expect(await machine.read('signature')).toMatch(/^sg1\.kms_\w{22}\.1\.[\w-]{86}\n$/)
      await kms(`rotate ${spec}-key --yes`)
      expect((await ok(['kms', 'verify', 'signature', '--file', 'message'])).stderr).toContain(
        'valid: signed with version 1',
      )
      // Verification needs no grant, only the id of the key.
      expect(
        (await ok(['kms', 'verify', join(machine.project, 'signature'), '--file', path('message')], undefined, other))
          .code,
      ).toBe(0)
      await kms(`disable ${spec}-key --yes`)
      await ok(['kms', 'verify', 'signature', '--file', 'message', '--key', `${spec}-key`])
      const wrong = await machine.skerry(['kms', 'verify', 'signature'], { input: 'another message' })
      expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('is not valid for this message')])
    },
  )
})

describe('a client written from the published formats alone', () => {
  let place: PublishedPlace
  let tokenId: string
  beforeAll(async () => {
    const made = await ok(['token', 'create', '--admin', '--name', 'published', '--format', 'classic', '--json'])
    const { token, serviceToken } = JSON.parse(made.stdout)
    const { profiles, current } = JSON.parse((await machine.shell('cat $HOME/.config/skerry/credentials.json')).stdout)
    tokenId = serviceToken.id
    place = { url: server.url, token, orgId: profiles[current].org.id }
  })

  /** Makes a key and grants it to that client. `seen` reads the key as the client does. */
  async function published(name: string, ...options: string[]) {
    const { key } = JSON.parse(await kms(['create', name, ...options, '--json'].join(' ')))
    await kms(`grant ${name} --token ${tokenId}`)
    return { seen: () => readKey(place, key.id) }
  }

  it('opens our ce1. and dk1. blobs, only with the right version and in the right context', async () => {
    const { seen } = await published('opened')
    const first = (await kms('encrypt opened --context customer/17', 'für dich')).trim()
    await kms('rotate opened --yes')
    const bare = (await kms('encrypt opened', 'bare')).trim()
    const wrapped = (await kms('data-key opened --out published-key')).trim()
    const key = await seen()
    expect([first, bare, wrapped].map((blob) => blob.split('.')[2])).toEqual(['1', '2', '2'])
    expect(openSealed(first, key, 'customer/17').toString()).toBe('für dich')
    expect(openSealed(bare, key).toString()).toBe('bare')
    expect(openSealed(wrapped, key).equals(await readFile(path('published-key')))).toBe(true)
    for (const [blob, context] of [
      [first, 'customer/18'],
      [first, ''],
      [bare.replace('.2.', '.1.'), ''],
      [wrapped.replace('dk1', 'ce1'), ''],
      [bare.replace('ce1', 'dk1'), ''],
    ] as const)
      expect(() => openSealed(blob, key, context)).toThrow()
  })

  it('makes ce1. and dk1. blobs that our CLI opens only in the right context', async () => {
    const { seen } = await published('made')
    await kms('rotate made --yes')
    const key = await seen()
    const plaintext = randomBytes(300)
    for (const [prefix, context, options] of [
      ['ce1', '', ''],
      ['ce1', 'customer/17', ' --context customer/17'],
      ['dk1', '', ''],
    ] as const) {
      await kms(`decrypt made${options} --out back --force`, makeSealed(prefix, plaintext, key, context))
      expect((await readFile(path('back'))).equals(plaintext)).toBe(true)
    }
    const other = await machine.skerry(['kms', 'decrypt', 'made'], { input: makeSealed('ce1', plaintext, key, 'x') })
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining(
        'the input cannot be decrypted: the key, its version or --context is wrong, or the ciphertext was changed',
      ),
    ])
  })

  it('verifies our sg1. signatures, and our CLI verifies those of the client', async () => {
    const { seen } = await published('signed', '--spec', 'ecdsa-p256-sha256')
    const message = randomBytes(2000)
    await writeFile(path('published-message'), message)
    const ours = (await kms('sign signed --file published-message')).trim()
    await kms('rotate signed --yes')
    expect(await isSigned(ours, message, place)).toBe(true)
    expect(await isSigned(ours, message.subarray(1), place)).toBe(false)
    expect(await isSigned(ours.replace('.1.', '.2.'), message, place)).toBe(false)

    await writeFile(path('published-signature'), makeSignature(message, await seen()))
    const valid = await ok(['kms', 'verify', 'published-signature', '--file', 'published-message'])
    expect(valid.stderr).toContain('valid: signed with version 2')
    const wrong = await machine.skerry(['kms', 'verify', 'published-signature'], { input: 'another message' })
    expect([wrong.code, wrong.stderr]).toEqual([
      3,
      expect.stringContaining('the signature is not valid for this message and this key'),
    ])
  })
})
