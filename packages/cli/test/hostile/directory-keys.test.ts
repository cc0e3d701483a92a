import { generateKeyPair } from '@skerry/crypto/keys'
import { newSealingMaterial } from '@skerry/crypto/kms'
import { newSigningMaterial } from '@skerry/crypto/kms-sign'
import { newId } from '@skerry/crypto/random'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  newKeyHolder,
  newPersonMachine,
  openPeopleServer,
  type PeopleServer,
  type PersonMachine,
  passphrase,
} from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A malicious server lies about managed keys, signers of policies and receivers of keys, in an organization whose directory
// the machine knows. The machines have the pin of skerry.json, and no memory.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let liar: Liar
let ada: PersonMachine
let bob: PersonMachine
let carol: PersonMachine
let project: string
let adasKey: string
const machines: PersonMachine[] = []

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  ada = await newKeyHolder(server, 'ada@example.com', liar.url)
  await ada.ok('skerry keys unlock && skerry org create "Signed Keys" && skerry init --yes --env development')
  await ada.ok('printf value | skerry secrets set API_KEY')
  await ada.ok('skerry kms create billing && skerry kms create releases --spec ecdsa-p256-sha256')
  await ada.ok('skerry trust init --yes')
  bob = await newKeyHolder(server, 'bob@example.com', liar.url)
  await ada.ok('skerry invite create bob@example.com --role admin')
  await bob.ok('skerry invite accept')
  await ada.ok('skerry grant bob@example.com --reader bob@example.com')
  project = await ada.read('skerry.json')
  adasKey = JSON.parse(await ada.ok('skerry keys fingerprint --json')).publicKeyJwk
})
afterEach(() => liar.repent())
afterAll(async () => {
  await ada.ok('skerry keys lock')
  await Promise.all([ada, bob, carol, ...machines].map((machine) => machine?.remove()))
  await liar.close()
  await server.close()
})

/** A new machine of a person, which has the project file and nothing else. */
async function freshMachine({ email }: PersonMachine): Promise<PersonMachine> {
  const machine = await newPersonMachine(server, email, liar.url)
  machines.push(machine)
  await machine.write('../passphrase', `${passphrase}\n`)
  machine.env.SKERRY_PASSPHRASE_FILE = `${machine.home}/passphrase`
  await machine.write('skerry.json', project)
  return machine
}

async function refusalOf(machine: PersonMachine, command: string): Promise<string> {
  const { code, stdout, stderr } = await machine.shell(command)
  expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: '' })
  return stderr
}

describe('a managed key', () => {
  const encrypt = (named: string) => `echo secret | skerry kms encrypt ${named}`
  const idOf = async (name: string) => {
    const { keys } = JSON.parse(await ada.ok('skerry kms ls --json'))
    return keys.find((one: Json) => one.name === name).id as string
  }
  const giveOwnKey = async () => {
    const wrappedKey = await wrapKey(newSealingMaterial(), adasKey)
    liar.lie(/\/key$/, (body) => ({ ...body, grants: [{ version: 1, wrappedKey }] }))
  }
  const rename = (from: string, to: string) =>
    liar.lie(/\/kms\/keys(?:\?|$)/, (body) => ({
      ...body,
      keys: body.keys.map((one: Json) => (one.name === from ? { ...one, name: to } : one)),
    }))

  it('is used as it was signed', async () => {
    const machine = await freshMachine(ada)
    const sealed = await machine.ok(encrypt('billing'))
    await machine.write('sealed', sealed)
    expect(await machine.ok('skerry kms decrypt billing --file sealed')).toBe('secret\n')
  })

  it('that the server made is not used', async () => {
    await giveOwnKey()
    expect(await refusalOf(await freshMachine(ada), encrypt('billing'))).toContain(
      'version 1 of billing is not the key in the signed directory',
    )
  })

  it('that no signer signed is not used', async () => {
    rename('billing', 'payments')
    expect(await refusalOf(await freshMachine(ada), encrypt('payments'))).toContain('is not in the signed directory')
  })

  it('that has another one’s name is not used', async () => {
    const other = await idOf('releases')
    liar.lie(/\/kms\/keys(?:\?|$)/, (body) => ({
      ...body,
      keys: body.keys.map((one: Json) => (one.name === 'billing' ? { ...one, id: other } : one)),
    }))
    expect(await refusalOf(await freshMachine(ada), encrypt('billing'))).toContain('billing')
  })

  it('that has another one’s name is not rotated in its place', async () => {
    await ada.ok('skerry kms create ledger')
    const other = await idOf('ledger')
    liar.lie(/\/kms\/keys(?:\?|$)/, (body) => ({
      ...body,
      keys: body.keys.map((one: Json) => (one.name === 'billing' ? { ...one, id: other } : one)),
    }))
    expect(await refusalOf(await freshMachine(ada), 'skerry kms rotate billing --yes')).toContain(
      'billing is another managed key in the signed directory',
    )
    expect(liar.sent()).toEqual([])
  })

  it('whose current version the server hides is not used', async () => {
    await ada.ok('skerry kms create counted && skerry kms rotate counted --yes')
    liar.lie(/\/key$/, (body) => ({ ...body, currentVersion: 1, grants: body.grants.slice(0, 1) }))
    expect(await refusalOf(await freshMachine(ada), encrypt('counted'))).toContain('signed is 2')
  })

  it('does not escape its entry by a name that no entry can have', async () => {
    const id = await idOf('billing')
    await giveOwnKey()
    rename('billing', 'Billing!')
    expect(await refusalOf(await freshMachine(ada), encrypt(id))).toContain('no key of such a name')
  })

  it('with a name that no entry can have is used on a new machine with a warning, and in strict mode not', async () => {
    await ada.ok('skerry kms create "Big Key"')
    const strict = { env: { SKERRY_STRICT: '1' } }
    const machine = await freshMachine(ada)
    expect(await machine.shell(encrypt('"Big Key"'), strict)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('nobody can sign the managed key "Big Key"'),
    })
    expect((await machine.shell(encrypt('"Big Key"'))).stderr).toContain('only the memory of this machine protects')
    // The machine knows the key now.
    expect((await machine.shell(encrypt('"Big Key"'), strict)).stderr).toBe('')
    await giveOwnKey()
    expect(await refusalOf(machine, encrypt('"Big Key"'))).toContain('is a different key than before')
  })

  it('verifies a signature only under the public key that was signed', async () => {
    await ada.ok('echo message > message && skerry kms sign releases --file message --out signature')
    const machine = await freshMachine(ada)
    await machine.write('message', await ada.read('message'))
    await machine.write('signature', await ada.read('signature'))
    const verify = 'skerry kms verify signature --file message'
    await machine.ok(verify)
    const { publicKeyJwk } = await newSigningMaterial('ecdsa-p256-sha256')
    liar.lie(/\/public$/, (body) => ({ ...body, keys: [{ version: 1, publicKeyJwk }] }))
    expect(await refusalOf(machine, verify)).toContain('version 1 of releases is not the key in the signed directory')
    rename('releases', 'Releases!')
    expect(await refusalOf(machine, verify)).toContain('no key of such a name')
  })
})

describe('the signers of policies', () => {
  const settings = (signer: string) =>
    `[forward]\nlisten = "127.0.0.1:0"\n[policy]\nsource = "server"\nagent = "builder"\nsigners = ["${signer}"]\n`

  it('are signers of the directory, although the settings name others', async () => {
    await ada.ok('skerry agent create builder')
    await ada.write('rules.json', JSON.stringify([{ host: 'example.com', methods: [], paths: [], allow: ['API_KEY'] }]))
    const published = await ada.shell('skerry agent policy publish builder --file rules.json --yes')
    const own = /[A-Za-z0-9_-]{43}/.exec(published.stdout + published.stderr)![0]
    const machine = await freshMachine(ada)
    await machine.write('skerry-proxy.toml', settings(own))
    expect(await machine.shell('skerry proxy run -- true')).toMatchObject({ code: 0 })
    await machine.write('skerry-proxy.toml', settings('A'.repeat(43)))
    expect(await refusalOf(machine, 'skerry proxy run -- true')).toContain('nobody in policy.signers is a signer')
  })
})

describe('a reader whom the server calls by another name than the directory', () => {
  it('is not accepted by --reader under that name', async () => {
    liar.lie(/\/grantees/, (body) => ({
      ...body,
      grantees: body.grantees.map((one: Json) =>
        one.name === 'bob@example.com' ? { ...one, name: 'chief@example.com' } : one,
      ),
    }))
    const machine = await freshMachine(ada)
    const told = await refusalOf(machine, 'skerry env rekey development --yes --reader chief@example.com')
    expect(told).toContain('is called bob@example.com in the signed directory, not chief@example.com')
  })
})

describe('a person without an entry', () => {
  it('gets no key from somebody who does not sign, whatever they accept', async () => {
    carol = await newKeyHolder(server, 'carol@example.com', liar.url)
    await ada.ok('skerry invite create carol@example.com')
    await carol.ok('skerry invite accept')
    const machine = await freshMachine(bob)
    const told = await refusalOf(machine, 'skerry grant carol@example.com --reader carol@example.com')
    expect(told).toContain('carol@example.com')
    expect(told).toContain('is not in the signed directory; nothing was changed')
  })

  it.each([
    ['the id of nobody', 'u_evil'],
    ['the id of a worker', newId('syncConnection')],
    ['the id of the rotator', newId('organization')],
    ['the id of a token', newId('serviceToken')],
  ])('gets no key under %s', async (_, userId) => {
    const { publicKeyJwk } = await generateKeyPair()
    liar.lie(/\/members/, (body) => ({
      ...body,
      members: body.members?.map((one: Json) =>
        one.email === 'carol@example.com' ? { ...one, userId, publicKeyJwk } : one,
      ),
    }))
    const grant = 'skerry grant carol@example.com --reader carol@example.com'
    for (const machine of [await freshMachine(bob), await freshMachine(ada)]) {
      expect(await refusalOf(machine, grant)).toContain(`the id of a person, came ${userId}`)
      expect(liar.sent()).toEqual([])
    }
  })

  it('is not signed under an address that only the server claims', async () => {
    await ada.ok('skerry members trust carol@example.com --yes')
    liar.lie(/\/directory\/claims/, (body) => ({
      ...body,
      claims: body.claims.map((one: Json) =>
        one.value?.email === 'carol@example.com'
          ? { ...one, value: { ...one.value, email: 'chief@example.com' } }
          : one,
      ),
    }))
    expect(await ada.shell('skerry trust sign --yes')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/calls usr_\w+ both carol@example.com and chief@example.com; nothing was signed/),
    })
    const granted = await ada.shell('skerry grant carol@example.com --reader carol@example.com')
    expect(granted).toMatchObject({ code: 0, stderr: expect.stringContaining('not signed: ') })
    expect(liar.received().join()).not.toContain('chief@example.com')
    liar.repent()
    await ada.ok('skerry trust sign --yes')
  })

  it('gets no key under another person’s name', async () => {
    const { publicKeyJwk } = await generateKeyPair()
    liar.lie(/\/members/, (body) => ({
      ...body,
      members: body.members?.map((one: Json) => (one.email === 'bob@example.com' ? { ...one, publicKeyJwk } : one)),
    }))
    const told = await refusalOf(await freshMachine(ada), 'skerry grant bob@example.com --reader bob@example.com')
    expect(told).toContain('has another key in the signed directory')
  })
})

describe('a person whom somebody else removed', () => {
  it('gets no key from a signer who knew them, although the server shows them still', async () => {
    const machine = await freshMachine(ada)
    await machine.ok('skerry members trust carol@example.com --yes')
    await machine.ok('skerry env create shared-before')
    expect(await machine.shell('skerry grant carol@example.com --env shared-before')).toMatchObject({ code: 0 })
    const { members } = liar.heard(/\/members(?:\?|$)/)
    const claims = await ada.ok('skerry trust status --json').then(() => liar.heard(/\/directory\/claims/).claims)
    await ada.ok('skerry members rm carol@example.com --yes')
    liar.lie(/\/members(?:\?|$)/, (body) => ({ ...body, members }))
    liar.lie(/\/directory\/claims/, (body) => ({ ...body, claims }))
    const told = 'was in the signed directory, and is there no longer'
    for (const option of ['', ' --reader carol@example.com'])
      expect(await refusalOf(machine, `skerry grant carol@example.com --env development${option}`)).toContain(told)
    const signing = await machine.shell('skerry trust sign carol@example.com --yes')
    expect(signing).toMatchObject({ code: 3, stderr: expect.stringContaining('nothing was signed') })
    expect(liar.sent()).toEqual([])
  })
})

describe('the memory of the directory', () => {
  const path = '../.config/skerry/known-directories.json'
  it.each([
    ['is cut off', (text: string) => text.slice(0, -20)],
    ['is empty', () => ''],
    ['is of another type', () => '[]'],
    ['lost the hash of its head', (text: string) => text.replace(/("head": \{[^}]*)"hash": "[^"]*"/, '$1"hash": null')],
    ['lost its time', (text: string) => text.replace(/"time": \d+/, '"time": "never"')],
    ['lost its pins', (text: string) => text.replaceAll(/"pins": \[[^\]]*\]/g, '"pins": null')],
  ])('is not used if it %s, and the machine says which file', async (_, damage) => {
    const machine = await freshMachine(ada)
    await machine.ok('skerry secrets get API_KEY')
    const text = await machine.read(path)
    await machine.write(path, damage(text))
    const { code, stdout, stderr } = await machine.shell('skerry secrets get API_KEY')
    expect({ code, stdout, stderr }).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('known-directories.json is not a list of known directories'),
    })
  })
})
