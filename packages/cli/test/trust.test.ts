import { decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from '@skerry/crypto/base64url'
import { canonicalJson } from '@skerry/crypto/canonical-json'
import { signerOfMachine } from '@skerry/crypto/directory/signing'
import { newSigningMaterial } from '@skerry/crypto/kms-sign'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newMachine, signedUp } from './machine.ts'
import { newKeyHolder, ok, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

let server: PeopleServer
let ada: PersonMachine
let number = 0

beforeAll(async () => {
  server = await openPeopleServer()
})
afterAll(() => server?.close())

/** A person with keys who owns an organization of their own, with the environment shop/development. */
async function newOwner(): Promise<PersonMachine> {
  const person = await newKeyHolder(server, `ada${++number}@example.com`)
  await person.ok(`skerry org create "Signed ${number}" && skerry init --yes --env development`)
  return person
}

/** Another admin, whose key Ada knows, and who has the pin. */
async function newAdmin(owner: PersonMachine): Promise<PersonMachine> {
  const admin = await newKeyHolder(server, `bob${++number}@example.com`)
  await owner.ok(`skerry invite create ${admin.email} --role admin`)
  await admin.ok('skerry invite accept')
  await admin.write('skerry.json', await owner.read('skerry.json'))
  await owner.ok(`skerry members trust ${admin.email} --yes`)
  return admin
}

/** Lets another admin sign, after their words were compared. */
async function addSigner(signer: PersonMachine, other: PersonMachine): Promise<void> {
  const offer = (await other.ok('skerry trust signers offer')).trim()
  await signer.ok(`skerry trust signers add ${other.email} --key ${offer} --yes`)
}

const verify = async (person: PersonMachine) => JSON.parse(await person.ok('skerry trust verify --json'))
const status = async (person: PersonMachine) => JSON.parse(await person.ok('skerry trust status --json'))
const unsigned = async (person: PersonMachine): Promise<string[]> =>
  (await status(person)).unsigned.map(({ text }: { text: string }) => text)

describe('a directory', () => {
  beforeEach(async () => {
    ada = await newOwner()
  })

  test('starts with an entry for everything, and its pin is printed and written into skerry.json', async () => {
    const pin = (await ada.ok('skerry trust init --yes')).trim()
    expect(pin).toMatch(/^[\w-]{43}$/)
    expect(JSON.parse(await ada.read('skerry.json')).pin).toBe(pin)
    expect(await verify(ada)).toMatchObject({ verified: true, root: 1, head: 1, entries: 2, unsigned: [] })
    expect((await ada.skerry(['trust', 'init', '--yes'])).code).toBe(5)
    await ada.ok('skerry init --yes --env staging')
    expect(JSON.parse(await ada.read('skerry.json'))).toMatchObject({ pin, env: 'staging' })
    await ada.ok('mkdir ../other && cd ../other && skerry init --yes --app other --env development')
    expect(JSON.parse(await ada.read('../other/skerry.json')).pin).toMatch(new RegExp(`^${pin}@\\d+$`))
  })

  test('lets nobody but a signer publish a policy, because proxies would refuse it', async () => {
    await ada.ok('skerry trust init --yes && skerry agent create builder')
    const bob = await newAdmin(ada)
    for (const person of [ada, bob]) await person.write('rules.json', '[]')
    const publish = 'skerry agent policy publish builder --file rules.json --yes'
    await ada.ok(publish)
    for (const command of [publish, 'skerry agent policy rollback builder 1 --yes']) {
      const { code, stderr } = await bob.shell(command)
      expect([code, stderr]).toEqual([3, expect.stringContaining('your key is not the key of a signer')])
    }
    expect(JSON.parse(await ada.ok('skerry agent policy history builder --json')).policies).toHaveLength(1)
    await ada.ok('skerry trust sign --yes')
    await addSigner(ada, bob)
    await bob.ok(publish)
    await bob.remove()
  })

  test('needs a signer after a re-key that an admin approved who neither signs nor reads', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    await ada.ok('echo x | skerry secrets set A && skerry run -- true')
    await ada.ok('skerry trust sign --yes && skerry env protect development --yes')
    const { changeRequest } = JSON.parse(await ada.ok('skerry env rekey development --yes --json'))
    const { code, stderr } = await bob.shell(`skerry changes approve ${changeRequest.id} --yes`)
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('machines that know the signed directory refuse shop/development until a signer'),
    ])
    expect((await ada.shell('skerry run -- true')).code).toBe(3)
    await ada.ok('skerry trust sign --yes')
    expect(await ada.ok('skerry run -- printenv A')).toBe('x\n\n')
    await bob.remove()
  })

  test('stays signed while a signer re-keys, grants, composes, creates and deletes', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    await ada.ok(`skerry trust sign --yes`)
    for (const command of [
      `skerry grant ${bob.email} development --yes`,
      'skerry env rekey development --yes',
      'skerry group create shared && skerry env create development --group shared',
      'skerry compose set shared --env development --yes',
      'skerry token create ci --env development',
      'skerry token rename ci robot',
      'skerry env create staging',
      `skerry grant revoke ${bob.email} --env development --yes`,
      'skerry compose rm shared --env development --yes',
      'skerry token rm robot --yes',
      'skerry env rm staging --yes',
      'skerry group rm shared --yes',
      `skerry members rm ${bob.email} --yes`,
    ]) {
      const { code, stderr } = await ada.shell(command)
      expect([command, code, stderr]).toEqual([command, 0, expect.stringContaining('signed ')])
      expect(stderr, command).not.toContain('not signed')
      expect([command, await unsigned(ada)]).toEqual([command, []])
    }
    expect(await verify(ada)).toMatchObject({ verified: true, entries: 2 })
  })

  test('gives a token its pin, and the token runs on a fresh machine before and after a re-key', async () => {
    await ada.ok('skerry trust init --yes')
    await ada.ok('echo -n hello | skerry secrets set A')
    const token = (await ada.ok('skerry token create ci --env development')).trim()
    expect(token).toMatch(/^skt_\w{22}_[\w-]+\.[\w-]{43}@\d+\.shop\/development$/)
    const plain = (await ada.ok('skerry token create plain --env development --without-pin')).trim()
    expect(plain).toMatch(/^skt_\w{22}_[\w-]+$/)
    const fresh = await newMachine(server.url)
    fresh.env.SKERRY_TOKEN = token
    expect(await ok(fresh, "skerry run -- sh -c 'echo $A'")).toBe('hello\n')
    expect((await ada.shell('skerry env rekey development --yes')).stderr).toContain(
      'only a machine without its pin must run `skerry env trust shop/development` once',
    )
    expect(await ok(fresh, "skerry run -- sh -c 'echo $A'")).toBe('hello\n')
  })

  test('starts again from an older head if a person says that a backup was restored', async () => {
    const pin = (await ada.ok('skerry trust init --yes')).trim()
    const file = '../.config/skerry/known-directories.json'
    const known = JSON.parse(await ada.read(file))
    for (const place of Object.values<{ known: { head: object } }>(known.directories))
      place.known.head = { version: 7, hash: pin }
    await ada.write(file, JSON.stringify(known))
    const refused = { code: 3, stderr: expect.stringContaining('`skerry trust pin <pin> --restored`') }
    expect(await ada.shell('skerry env rekey development --yes')).toMatchObject(refused)
    expect(await ada.shell(`skerry trust pin ${pin}`)).toMatchObject(refused)
    const asked = await ada.shell('skerry trust pin --restored')
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('starts again from head 1 of the server')])
    expect(asked.stderr).toContain('This machine saw head 7')
    await ada.ok('cp ../.config/skerry/known-directories.json before')
    await ada.ok('skerry trust pin --restored --yes')
    expect(await verify(ada)).toMatchObject({ verified: true, head: 1 })
    await ada.ok('mv before ../.config/skerry/known-directories.json')
    await ada.ok(`skerry trust pin ${pin} --restored`)
    expect(await verify(ada)).toMatchObject({ verified: true, head: 1 })
    await ada.ok('skerry env rekey development --yes')
    expect(await unsigned(ada)).toEqual([])
  })

  test('is signed by two admins at once, and by one who compares the words of a new member', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    const { stderr } = await ada.skerry(['grant', bob.email, 'development', '--reader', bob.email])
    expect(stderr).toContain(`person ${bob.email}: added`)
    await addSigner(ada, bob)
    const made = await Promise.all([ada.shell('skerry env create one'), bob.shell('skerry env create two')])
    expect(made.map(({ code }) => code)).toEqual([0, 0])
    for (const one of made) expect(one.stderr).toContain('signed environment')
    expect(await verify(ada)).toMatchObject({ verified: true, root: 2, entries: 5 })
  })

  test('is started by a script that names each holder whose key this machine does not know', async () => {
    const bob = await newAdmin(ada)
    await bob.ok('skerry token create ci --admin')
    const refused = await ada.shell('skerry trust init --yes')
    expect(refused).toMatchObject({ code: 3, stdout: '' })
    expect(refused.stderr).not.toContain('usr_')
    const [, options] = /run again with (.*)/.exec(refused.stderr) ?? []
    expect(options).toBe('--reader ci')
    const wrong = await ada.shell('skerry trust init --yes --reader nobody')
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('matches no reader of these entries') })
    await ada.ok(`skerry trust init --yes ${options}`)
    expect(await verify(ada)).toMatchObject({ verified: true })
  })

  test('shows a change without a signature as not signed, until a signer signs it', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    await ada.ok(`skerry grant ${bob.email} development --reader ${bob.email}`)
    const other = await newMachine(server.url)
    Object.assign(other.env, { SKERRY_TOKEN: bob.env.SKERRY_TOKEN, SKERRY_KEYRING: 'off' })
    const { org } = JSON.parse(await ada.read('skerry.json'))
    await ok(other, `skerry grant revoke ${ada.email} --app shop --env development --org ${org} --yes`)
    const line = `environment shop/development: reader ${ada.email} removed`
    expect(await unsigned(ada)).toEqual([line])
    const refused = await ada.skerry(['trust', 'verify'])
    expect([refused.code, refused.stdout]).toEqual([3, `not signed: ${line}\n`])
    expect(await ada.ok('skerry trust sign --yes')).toBe(`${line}\n`)
    expect(await verify(ada)).toMatchObject({ verified: true })
  })

  test('without its last signer is continued with rescue codes, and not without them', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    await ada.ok('skerry trust sign --yes')
    const without = await bob.skerry(['trust', 'rescue', 'use', '--yes'])
    expect([without.code, without.stderr]).toEqual([5, expect.stringContaining('has no rescue codes')])
    const codes = (await ada.ok('skerry trust rescue setup --yes')).trim().split('\n')
    expect(codes.length).toBe(3)
    const one = await bob.skerry(['trust', 'rescue', 'use', '--yes'], { input: codes[0]! })
    expect([one.code, one.stderr]).toEqual([3, expect.stringContaining('2 rescue codes of this directory are needed')])
    expect((await bob.skerry(['trust', 'rescue', 'use', '--yes'], { input: codes.slice(1).join('\n') })).code).toBe(0)
    await bob.ok('skerry env create continued')
    expect((await status(ada)).signers.map(({ name }: { name: string }) => name)).toEqual([bob.email])
    expect(await verify(ada)).toMatchObject({ verified: true, root: 3 })
  })

  test('with a threshold of two changes its signers with two signatures', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    await ada.ok('skerry trust sign --yes')
    await addSigner(ada, bob)
    await bob.write('root.txt', await ada.ok('skerry trust signers edit --threshold 2'))
    expect((await status(ada)).root.threshold).toBe(1)
    await bob.ok('skerry trust approve root.txt --yes')
    expect((await status(ada)).root.threshold).toBe(2)
  })

  test('adds no signer under another key than the signed one, and shows another key for policies', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    await ada.ok('skerry trust sign --yes')
    const offer = JSON.parse(decodeUtf8(decodeBase64url((await bob.ok('skerry trust signers offer')).trim())))
    const other = encodeBase64url(encodeUtf8(canonicalJson({ ...offer, policyKid: offer.kid })))
    expect(await ada.shell(`skerry trust signers add ${bob.email} --key ${other} --yes`)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('names another key of'),
    })
    await addSigner(ada, bob)
    const root = await ada.ok('skerry trust signers edit --threshold 2')
    const [prefix, body = '', signatures] = root.trim().split('.')
    const { signers, ...rest } = JSON.parse(decodeUtf8(decodeBase64url(body)))
    const swapped = signers.map((one: { kid: string }) => ({ ...one, policyKid: one.kid }))
    const text = encodeBase64url(encodeUtf8(canonicalJson({ ...rest, signers: swapped })))
    await bob.write('root.txt', `${prefix}.${text}.${signatures}`)
    const { stderr } = await bob.skerry(['trust', 'approve', 'root.txt'])
    for (const { email } of [ada, bob]) expect(stderr).toContain(`key of ${email} for agent policies: `)
    const { kid, jwk } = await signerOfMachine((await newSigningMaterial('ecdsa-p256-sha256')).pkcs8)
    const added = signers.map((one: { kid: string }) => (one.kid === offer.kid ? { ...offer, kid, jwk } : one))
    for (const policyKid of [kid, offer.policyKid]) {
      const named = added.map((one: { kid: string }) => (one.kid === kid ? { ...one, policyKid } : one))
      const others = encodeBase64url(encodeUtf8(canonicalJson({ ...rest, signers: named })))
      await bob.write('root.txt', `${prefix}.${others}.${signatures}`)
      const approved = await bob.shell('skerry trust approve root.txt --yes')
      const told =
        policyKid === kid ? `names another key of ${bob.email}` : `words of the signing key of ${bob.email}: `
      expect(approved).toMatchObject({ code: policyKid === kid ? 3 : 0, stderr: expect.stringContaining(told) })
    }
  })

  test('tells a caller who is no signer that a signer has to sign', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    const { code, stderr } = await bob.shell('skerry env create other')
    expect([code, stderr]).toEqual([0, expect.stringContaining('a signer has to run `skerry trust sign`')])
  })
})

test('a token cannot start a directory, and is told to sign in', async () => {
  const machine = await signedUp(server.url, 'Token Starts')
  const { code, stderr } = await machine.skerry(['trust', 'init', '--yes'])
  expect([code, stderr]).toEqual([3, expect.stringContaining('a token cannot start the signed directory')])
  expect(stderr).toContain('sign in with `skerry login`')
  await machine.remove()
})
