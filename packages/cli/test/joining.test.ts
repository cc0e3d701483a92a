import { makeAnswer, makeInvitation, newJoiningCode } from '@skerry/crypto/directory/joining'
import { parsePin } from '@skerry/crypto/directory/pin'
import { generateKeyPair } from '@skerry/crypto/keys'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Json, type Liar, openLiar } from './hostile/liar.ts'
import { newKeyHolder, newPersonMachine, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// An invited person and a signer who have a joining code in common, with a server that is honest or lies.

let server: PeopleServer
let liar: Liar
let ada: PersonMachine
let org: string
let pin: string
let evil: string
let number = 0

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  ada = await newKeyHolder(server, 'ada@example.com', liar.url)
  await ada.ok('skerry org create Joining && skerry init --yes --env development')
  org = JSON.parse(await ada.ok('skerry org ls --json')).orgs[0].id
  pin = (await ada.ok('skerry trust init --yes')).trim()
  evil = (await generateKeyPair()).publicKeyJwk
})
afterEach(() => liar.repent())
afterAll(async () => {
  await liar.close()
  await server.close()
})

const newBob = () => newKeyHolder(server, `bob${++number}@example.com`, liar.url)

const codeIn = (text: string): string => /(?:\w{4}-){6}\w{4}/.exec(text)?.[0] ?? ''

/** Invites a person and returns the joining code. */
const invite = async ({ email }: PersonMachine): Promise<string> =>
  codeIn((await ada.skerry(['invite', 'create', email])).stderr)

const accept = (person: PersonMachine, code: string) => person.skerry(['invite', 'accept', '--code'], { input: code })

/** A person who has joined with the code. */
async function newJoined(): Promise<PersonMachine> {
  const bob = await newBob()
  expect(await accept(bob, await invite(bob))).toMatchObject({ code: 0 })
  return bob
}

const grant = ({ email }: PersonMachine) => ada.skerry(['grant', email, 'development'])

const refused = (told: string, code = 3) => ({ code, stderr: expect.stringContaining(told) })

/** Shows this key as the key of a person, in every answer. */
function swapKey({ email }: PersonMachine, kid?: string): void {
  const swap = (rows: Json[]) => rows.map((one) => (one.email === email ? { ...one, publicKeyJwk: evil } : one))
  liar.lie(/\/members$/, (body) => ({ ...body, members: swap(body.members) }))
  if (kid !== undefined)
    liar.lie(/\/directory\/claims/, (body) => ({
      ...body,
      claims: body.claims.map((one: Json) =>
        one.value?.email === email ? { ...one, value: { ...one.value, kid } } : one,
      ),
    }))
}

describe('a joining code', () => {
  it('lets the invited person trust the right directory, and the signer their key, without words', async () => {
    const bob = await newBob()
    const created = await ada.skerry(['invite', 'create', bob.email])
    expect(created.stderr).toMatch(
      /joining code for bob\d+@example\.com, which works once, for 7 days: (?:\w{4}-){6}\w{4}\n/,
    )
    const code = codeIn(created.stderr)
    const joined = await accept(bob, code)
    expect(joined).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('this machine trusts the signed directory'),
    })
    expect(await bob.ok('skerry trust pin')).toContain(pin)
    const { code: ended, stderr } = await grant(bob)
    expect([ended, stderr]).toEqual([0, expect.stringContaining('they answered with the joining code')])
    expect(stderr).toContain(`person ${bob.email}: added`)
    await bob.write('skerry.json', JSON.stringify({ ...JSON.parse(await ada.read('skerry.json')), pin: undefined }))
    expect((await bob.shell('skerry run -- true')).code).toBe(0)
    expect(JSON.parse(await ada.ok('skerry trust verify --json'))).toMatchObject({ verified: true })
    expect(JSON.parse(await ada.read('../.config/skerry/joining-codes.json')).codes).toEqual({
      [`${liar.url} ${org}`]: [],
    })
  })

  it('lets `trust sign` sign the key, too', async () => {
    const bob = await newJoined()
    const signed = await ada.skerry(['trust', 'sign', '--yes'])
    expect(signed).toMatchObject({ code: 0, stdout: `person ${bob.email}: new\n` })
  })

  it('comes with a note where the sign-in link is, if the server signs people in and sends no mail', async () => {
    const link = 'The server then writes the sign-in link into a file in the folder `outbox` of its data directory'
    const [bob, carl] = [await newBob(), await newBob()]
    expect((await ada.skerry(['invite', 'create', bob.email])).stderr).not.toContain(link)
    liar.lie(/\/v1\/sign-in$/, (body) => ({ ...body, kind: 'built_in', mail: 'outbox' }))
    expect((await ada.skerry(['invite', 'create', carl.email])).stderr).toContain(link)
  })

  it('is asked for by nobody in an organization without a directory', async () => {
    const carol = await newKeyHolder(server, `carol${++number}@example.com`, liar.url)
    await carol.ok('skerry org create "No Directory"')
    expect(JSON.parse(await carol.ok('skerry invite create dora@example.com --json'))).not.toHaveProperty(
      'joiningCodeFile',
    )
    const { code, stderr } = await carol.shell('skerry invite create emil@example.com --code-file code')
    expect([code, stderr]).toEqual([2, expect.stringContaining('knows no signed directory of this organization')])
  })

  it('is in no output for programs, and --code-file writes it for its owner alone', async () => {
    const bob = await newBob()
    const json = await ada.shell(`skerry invite create ${bob.email} --json`)
    expect([codeIn(json.stdout), codeIn(json.stderr)]).toEqual(['', ''])
    expect(json.stderr).toContain(`\`skerry invite resend ${bob.email} --code-file <path>\` writes a new one to a file`)
    const file = await ada.shell(`skerry invite resend ${bob.email} --json --code-file code; stat -c %a code`)
    expect([codeIn(file.stdout), codeIn(file.stderr), file.stdout]).toEqual(['', '', expect.stringMatching(/600\n$/)])
    expect(file.stdout).toContain('"joiningCodeFile": "code"')
    expect(await ada.shell(`skerry invite resend ${bob.email} --code-file code`)).toMatchObject({ code: 5 })
    expect(await accept(bob, codeIn(await ada.read('code')))).toMatchObject({ code: 0 })
  })
})

describe('a joining code is refused', () => {
  it('if it is mistyped, made for another person, or used a second time', async () => {
    const [bob, carl] = [await newBob(), await newBob()]
    const [code, other] = [await invite(bob), await invite(carl)]
    expect(await accept(bob, 'ABCD-EFGH')).toMatchObject(refused('this is not a joining code', 2))
    expect(await accept(bob, other)).toMatchObject(refused('is not the one of this invitation'))
    expect(await accept(bob, code)).toMatchObject({ code: 0 })
    const again = await accept(bob, code)
    expect(again).toMatchObject(refused('no invitation waits for you', 4))
    expect(again.stderr).toContain('to compare your words: `skerry keys fingerprint` shows them')
  })

  it('if it has expired, or was made for another address, role or organization', async () => {
    const bob = await newBob()
    await invite(bob)
    const now = Math.floor(Date.now() / 1000)
    const right = { org, pin: parsePin(pin), email: bob.email, role: 'member', issuedAt: now } as const
    for (const [change, told] of [
      [{ issuedAt: now - 8 * 86_400 }, 'this joining code has expired'],
      [{ email: 'eve@example.com' }, 'this joining code is for eve@example.com, and you are bob'],
      [{ role: 'admin' as const }, 'shows the role member, and you were invited as admin'],
    ] as const) {
      const code = await newJoiningCode()
      const joining = await makeInvitation(code, { ...right, ...change })
      liar.repent()
      liar.lie(/\/me\/invites/, (body) => ({ ...body, invites: [{ ...body.invites[0], joining }] }))
      expect(await accept(bob, code)).toMatchObject(refused(told))
      expect(liar.sent()).toEqual([])
    }
  })

  it('before the person has keys, because the answer names their key', async () => {
    const bob = await newPersonMachine(server, `bob${++number}@example.com`, liar.url)
    const code = await invite(bob)
    expect(await accept(bob, code)).toMatchObject(refused('you have no keys yet', 5))
    await bob.write('../passphrase', 'five random words of mine\n')
    bob.env.SKERRY_PASSPHRASE_FILE = `${bob.home}/passphrase`
    await bob.ok('skerry keys init')
    expect(await accept(bob, code)).toMatchObject({ code: 0 })
    expect(await grant(bob)).toMatchObject({ code: 0 })
  })

  it('after the invitation was sent again with a new code', async () => {
    const bob = await newBob()
    const code = await invite(bob)
    const newCode = codeIn((await ada.skerry(['invite', 'resend', bob.email])).stderr)
    expect(await accept(bob, code)).toMatchObject(refused('is not the one of this invitation'))
    expect(await accept(bob, newCode)).toMatchObject({ code: 0 })
    expect(await grant(bob)).toMatchObject({ code: 0 })
  })
})

describe('a server that lies', () => {
  it('about the key of the invited person gets nothing signed and nothing wrapped', async () => {
    const bob = await newJoined()
    swapKey(bob)
    expect(await grant(bob)).toMatchObject(refused(`shows another key for ${bob.email}`))
    expect(liar.sent()).toEqual([])
    liar.repent()
    const { fingerprint } = await import('@skerry/crypto/digest')
    swapKey(bob, await fingerprint(evil))
    expect(await ada.skerry(['trust', 'sign', '--yes'])).toMatchObject(refused(`shows another key for ${bob.email}`))
    expect(liar.sent()).toEqual([])
    liar.repent()
    expect(await grant(bob)).toMatchObject({ code: 0 })
  })

  it('about the answer of the invited person is caught, and without an answer people compare words', async () => {
    const bob = await newJoined()
    const forged = await makeAnswer(await newJoiningCode(), { email: bob.email, kid: 'A'.repeat(43) })
    const answer = (joiningAnswer: string | null) =>
      liar.lie(/\/invites\?/, (body) => ({
        ...body,
        invites: body.invites.map((one: Json) => (one.email === bob.email ? { ...one, joiningAnswer } : one)),
      }))
    answer(forged)
    expect(await grant(bob)).toMatchObject(refused('that was made without the joining code'))
    liar.repent()
    answer(null)
    const without = await grant(bob)
    expect(without).toMatchObject(refused('compare their words'))
    expect(without.stderr).toContain(`${bob.email} joined without the joining code`)
    expect(liar.sent()).toEqual([])
  })

  it('about the organization is caught by the invited person', async () => {
    const bob = await newBob()
    const code = await invite(bob)
    liar.lie(/\/me\/invites$/, (body) => ({ ...body, invites: [{ ...body.invites[0], joining: null }] }))
    expect(await accept(bob, code)).toMatchObject(
      refused('shows no invitation of joining that was made with a joining code'),
    )
    expect(liar.sent()).toEqual([])
    liar.repent()
    liar.lie(/\/accept$/, (body) => ({ org: { ...body.org, id: 'org_1111111111111111111111' } }))
    expect(await accept(bob, code)).toMatchObject(refused('another organization than the one that invited you'))
  })

  it('about the acceptance leaves the invited person with the pin', async () => {
    const bob = await newBob()
    const code = await invite(bob)
    liar.lie(/\/accept$/, () => ({}))
    expect((await accept(bob, code)).code).not.toBe(0)
    liar.repent()
    expect(await bob.ok('skerry trust pin --org joining')).toContain(pin)
  })

  it('about the directory is caught at the first contact, and afterwards', async () => {
    const bob = await newBob()
    const code = await invite(bob)
    liar.lie(/\/directory/, (body) => ({ ...body, directory: null }))
    expect(await accept(bob, code)).toMatchObject(refused('shows no signed directory'))
    expect(await bob.shell('skerry trust pin')).toMatchObject(refused('no signed directory'))
  })
})
