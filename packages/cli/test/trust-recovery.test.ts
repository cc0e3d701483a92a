import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { generateKeyPair } from '@skerry/crypto/keys'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Liar, openLiar } from './hostile/liar.ts'
import { newMachine } from './machine.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine, passphrase } from './people.ts'

// The root of the signed directory names the recovery key. Ada and Bob sign it, and every other machine compares.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let liar: Liar
let ada: PersonMachine
let bob: PersonMachine
let org: string
const machines: PersonMachine[] = []

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  ada = await newKeyHolder(server, 'ada@example.com', liar.url)
  bob = await newKeyHolder(server, 'bob@example.com', liar.url)
  machines.push(ada, bob)
  await ada.ok('skerry org create "Custodians" && skerry init --yes --env development && skerry trust init --yes')
  await ada.ok('skerry invite create bob@example.com --role admin --code-file code')
  const code = (await ada.read('code')).trim()
  await bob.ok(`echo ${code} | skerry invite accept --code`)
  await bob.write('skerry.json', await ada.read('skerry.json'))
  await ada.ok('skerry grant bob@example.com development --yes')
  const offer = (await bob.ok('skerry trust signers offer')).trim()
  await ada.ok(`skerry trust signers add bob@example.com --key ${offer} --yes`)
  org = JSON.parse(await ada.read('skerry.json')).org
})
afterEach(() => liar.repent())
afterAll(async () => {
  for (const machine of machines) await machine.remove()
  await liar?.close()
  await server?.close()
})

/** A machine of Bob's that nobody has used before. It has the pin of the project file, or nothing. */
async function freshMachine({ pin }: { pin: boolean }): Promise<PersonMachine> {
  const machine = { ...(await newMachine(liar.url)), email: bob.email } as PersonMachine
  Object.assign(machine.env, { SKERRY_TOKEN: bob.env.SKERRY_TOKEN, SKERRY_KEYRING: 'off', SKERRY_ORG: org })
  await machine.write('../passphrase', `${passphrase}\n`)
  machine.env.SKERRY_PASSPHRASE_FILE = `${machine.home}/passphrase`
  if (pin) await machine.write('skerry.json', await ada.read('skerry.json'))
  machine.ok = async (command) => {
    const { code, stdout, stderr } = await machine.shell(command)
    expect([command, code, stderr]).toEqual([command, 0, stderr])
    return stdout
  }
  machines.push(machine)
  return machine
}

/** Starts to record requests from here. */
const record = () => liar.lie(/^$/, (body) => body)
const wrapsToRecovery = () => liar.received().some((body) => body.includes('recoveryWrappedDek'))
const recoveryIn = async () => JSON.parse(await ada.ok('skerry trust status --json')).recovery
const shownWords = async () => JSON.parse(await ada.ok('skerry recovery status --json')).recovery.recoveryPublicKeyJwk
const plan = '--threshold 2 --custodian ada@example.com --custodian bob@example.com --yes'

/** Runs a command that must be refused, and that must send nothing. */
async function refused(machine: PersonMachine, command: string, words: string, env: Record<string, string> = {}) {
  const { code, stderr } = await machine.shell(command, { env })
  expect([command, code, stderr]).toEqual([command, 3, expect.stringContaining(words)])
  expect([command, liar.sent()]).toEqual([command, []])
  return stderr
}

/** Runs a command that goes on without the recovery key, and says so. */
async function leavesOut(machine: PersonMachine, command: string, words: string) {
  record()
  const { code, stderr } = await machine.shell(command)
  expect([command, code, stderr]).toEqual([command, 0, expect.stringContaining(words)])
  expect([command, liar.sent().length > 0, wrapsToRecovery()]).toEqual([command, true, false])
}

/** Runs a command that wraps a key to the recovery key, and asks nobody. */
async function covers(machine: PersonMachine, command: string) {
  record()
  const { code, stderr } = await machine.shell(command)
  expect([command, code, stderr]).toEqual([command, 0, expect.not.stringContaining('recovery key')])
  expect([command, wrapsToRecovery()]).toEqual([command, true])
}

const noneSigned = 'nobody has signed the recovery key'
const another = 'the server shows another recovery key than the signed directory; nothing was changed'

describe('a recovery key that no signer has signed', () => {
  it('is shown as not signed', async () => {
    const bare = await freshMachine({ pin: false })
    await bare.ok(`skerry recovery setup ${plan} --reader ada@example.com`)
    expect((await recoveryIn()).state).toBe('unsigned')
    const { code, stdout } = await ada.skerry(['trust', 'verify'])
    expect([code, stdout]).toEqual([3, 'not signed: recovery key: new\n'])
    expect(await ada.ok('skerry trust status')).toContain(
      `recovery key: not signed, ${await fingerprintWords(await shownWords())}`,
    )
  })

  it.each([
    'skerry env create one',
    'skerry init --yes --env development --app second && git checkout -q skerry.json',
    'skerry env rekey development --yes',
    'skerry branch create pr-1 --env development',
  ])('gets no key from %s, which goes on with a warning', async (command) => {
    await ada.ok('git init -q . && git add skerry.json')
    await leavesOut(ada, command, noneSigned)
  })

  it('is refused where a command names it, or is about it', async () => {
    record()
    await refused(ada, 'skerry env create named --reader recovery', noneSigned)
    await refused(ada, 'skerry env rekey development --yes --reader recovery', noneSigned)
    await refused(ada, 'skerry recovery cover', noneSigned)
    await refused(ada, 'skerry recovery cover --reader recovery', noneSigned)
  })

  it('is signed only by a person who has compared its words', async () => {
    record()
    const told = await refused(ada, 'skerry trust sign recovery --yes', 'nobody has compared the words')
    expect(told).toContain(await fingerprintWords(await shownWords()))
    expect(told).toContain('bob@example.com set recovery up at')
    await ada.ok('skerry recovery trust --yes')
    const { stderr } = await ada.skerry(['trust', 'sign', 'recovery', '--yes'])
    expect(stderr).toMatch(/root \d+ is stored/)
    expect((await recoveryIn()).state).toBe('signed')
    expect((await ada.skerry(['trust', 'verify'])).code).toBe(0)
    expect((await ada.skerry(['trust', 'sign', 'recovery', '--yes'])).code).toBe(4)
  })
})

describe('a signed recovery key', () => {
  it('gets keys from a machine with a pin and without memory, without a question', async () => {
    const fresh = await freshMachine({ pin: true })
    await covers(fresh, 'skerry env create two')
    await covers(fresh, 'skerry env rekey two --yes')
    await covers(fresh, 'skerry branch create pr-2 --env development')
    record()
    await fresh.ok('skerry recovery cover')
    expect(liar.sent()).toHaveLength(1)
    await covers(await freshMachine({ pin: true }), 'skerry env create three --reader recovery')
  })

  it('cannot be replaced by the server, whatever a script names', async () => {
    const { publicKeyJwk: recoveryPublicKeyJwk } = await generateKeyPair()
    const fresh = await freshMachine({ pin: true })
    liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk }))
    liar.lie(/\/recovery$/, (body) => ({ ...body, recovery: { ...body.recovery, recoveryPublicKeyJwk } }))
    for (const machine of [fresh, ada])
      for (const command of [
        'skerry env create four',
        'skerry init --yes --env development --app other',
        'skerry env rekey development --yes',
        'skerry branch create pr-4 --env development',
        'skerry recovery cover',
      ])
        for (const more of ['', ' --reader recovery']) {
          const told = await refused(machine, `${command}${more}`, another)
          expect(told).toContain(await fingerprintWords(recoveryPublicKeyJwk))
        }
  })

  it('cannot be hidden by the server without a warning, and in strict mode not at all', async () => {
    const fresh = await freshMachine({ pin: true })
    liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk: null }))
    const words = 'the signed directory names a recovery key, but the server shows none'
    const branch = 'skerry branch create pr-5 --env development'
    for (const command of ['skerry env create five', 'skerry env rekey development --yes', branch])
      await refused(fresh, command, words, { SKERRY_STRICT: '1' })
    await leavesOut(fresh, 'skerry env create five', words)
  })

  it('is replaced by a signer, and machines that remember the earlier one follow', async () => {
    const fresh = await freshMachine({ pin: true })
    await covers(fresh, 'skerry env create six')
    const { stderr } = await ada.shell(`skerry recovery rotate ${plan}`)
    expect(stderr).toContain('signed root')
    expect(stderr).not.toContain('must sign')
    expect((await recoveryIn()).state).toBe('signed')
    await covers(fresh, 'skerry env create seven')
  })

  it('is refused after somebody else replaced it, until a signer compares its words on a terminal', async () => {
    const bare = await freshMachine({ pin: false })
    await bare.ok(`skerry recovery rotate ${plan} --reader ada@example.com`)
    record()
    await refused(ada, 'skerry env create eight', another)
    expect((await recoveryIn()).state).toBe('differs')
    const declined = await ada.terminal('skerry trust sign recovery', [['tell you these words', 'n\r']])
    expect([declined.code, (await recoveryIn()).state]).toEqual([1, 'differs'])
    const answers: [string, string][] = [
      ['tell you these words', 'y\r'],
      ['signs this line', 'y\r'],
    ]
    const signed = await ada.terminal('skerry trust sign recovery', answers)
    expect(signed.code, signed.stdout).toBe(0)
    expect(signed.stdout).toContain('bob@example.com replaced the key')
    await covers(ada, 'skerry env create eight')
  })

  it('that somebody ended is signed as ended', async () => {
    const bare = await freshMachine({ pin: false })
    await bare.ok('skerry recovery disable --yes')
    expect((await recoveryIn()).state).toBe('hidden')
    const { stderr } = await ada.skerry(['trust', 'sign', '--yes'])
    expect(stderr).toContain('the server shows no recovery key')
    expect((await recoveryIn()).state).toBe('hidden')
    await ada.ok('skerry trust sign recovery --yes')
    expect((await recoveryIn()).state).toBe('none')
    record()
    await ada.ok('skerry env create nine')
    expect(wrapsToRecovery()).toBe(false)
  })
})

describe('with a threshold of two', () => {
  const signed = async () => {
    await bob.write('root.txt', await ada.ok('skerry trust sign recovery --yes'))
    await refused(bob, 'skerry trust approve root.txt --yes', 'nobody has compared the words of this recovery key')
    await bob.ok('skerry recovery trust --yes')
    return bob.shell('skerry trust approve root.txt --yes')
  }

  it('a signer sets recovery up, and two sign its key', async () => {
    await bob.write('root.txt', await ada.ok('skerry trust signers edit --threshold 2'))
    await bob.ok('skerry trust approve root.txt --yes')
    const { code, stderr } = await ada.shell(`skerry recovery setup ${plan}`)
    expect([code, stderr]).toEqual([0, expect.stringContaining('2 people must sign this recovery key')])
    expect(stderr).toContain('`skerry trust sign recovery`')
    expect((await recoveryIn()).state).toBe('unsigned')
    await leavesOut(ada, 'skerry env create ten', noneSigned)
    record()
    await refused(ada, 'skerry recovery cover', noneSigned)
    const approved = await signed()
    expect([approved.code, approved.stderr]).toEqual([
      0,
      expect.stringContaining(await fingerprintWords(await shownWords())),
    ])
    expect((await recoveryIn()).state).toBe('signed')
    await ada.ok('skerry recovery cover')
    await covers(ada, 'skerry env create eleven')
  })

  it('a root with a key that was replaced in the meantime is not signed', async () => {
    await ada.ok(`skerry recovery rotate ${plan}`)
    await bob.write('root.txt', await ada.ok('skerry trust sign --yes'))
    record()
    await refused(ada, 'skerry env create twelve', another)
    await ada.ok(`skerry recovery rotate ${plan}`)
    record()
    await refused(bob, 'skerry trust approve root.txt --yes', 'names another recovery key than the server shows')
    expect((await signed()).code).toBe(0)
    await covers(bob, 'skerry env create twelve')
  })
})
