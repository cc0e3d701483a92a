import { randomBytes } from 'node:crypto'
import { generateKeyPair } from '@skerry/crypto/keys'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isQuick } from '../../server/test/extent.ts'
import { type Liar, openLiar } from './hostile/liar.ts'
import { newMachine } from './machine.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// Five custodians have shares. Any three of them can open the keys that the recovery key covers.

describe.skipIf(isQuick)('recovery on the command line', () => {
  let server: PeopleServer
  let liar: Liar
  let admin: PersonMachine
  let custodians: PersonMachine[]
  let newcomer: PersonMachine
  const value = `canary ${randomBytes(12).toString('hex')}`

  const by = (index: number) => custodians[index] as PersonMachine
  const wordsOf = async (person: PersonMachine) => (await person.ok('skerry keys fingerprint')).trim()
  const json = async (person: PersonMachine, command: string) => JSON.parse(await person.ok(`${command} --json`))
  const request = async (target: PersonMachine) =>
    (await admin.ok(`skerry recovery request ${target.email} --reason "a new laptop"`)).trim()
  const contribute = (person: PersonMachine, id: string, words: string) =>
    person.shell(`skerry recovery contribute ${id} --words "${words}"`)
  async function refused(person: PersonMachine, command: string, says: string | RegExp) {
    const { code, stderr } = await person.shell(command)
    expect(stderr).toMatch(says)
    expect(code).toBeGreaterThan(0)
  }

  async function invited(email: string, role = 'member'): Promise<PersonMachine> {
    await admin.ok(`skerry invite create ${email} --role ${role}`)
    const person = await newKeyHolder(server, email)
    await person.ok('skerry invite accept')
    const { slug } = (await json(person, 'skerry org ls')).orgs[0]
    person.env.SKERRY_ORG = slug
    return person
  }

  beforeAll(async () => {
    server = await openPeopleServer()
    liar = await openLiar(server.url)
    admin = await newKeyHolder(server, 'admin@example.com', liar.url)
    await admin.ok('skerry org create "Recovered" && skerry init --yes --env development')
    await admin.ok(`echo -n '${value}' | skerry secrets set VALUE`)
    custodians = []
    for (let index = 1; index <= 5; index++) custodians.push(await invited(`custodian-${index}@example.com`))
    newcomer = await invited('newcomer@example.com')
  })
  afterAll(async () => {
    for (const person of [admin, newcomer, ...(custodians ?? [])]) await person?.remove()
    await liar?.close()
    await server?.close()
  })

  const named = () => custodians.map(({ email }) => `--custodian ${email} --reader ${email}`).join(' ')

  describe('skerry recovery setup', () => {
    test('refuses a threshold above the number of custodians or below two, and no custodian, and changes nothing', async () => {
      await refused(
        admin,
        `skerry recovery setup --threshold 6 ${named()} --yes`,
        '--threshold is 6, but there are only 5 custodians',
      )
      await refused(admin, `skerry recovery setup --threshold 1 ${named()} --yes`, 'a whole number, 2 or more')
      await refused(admin, 'skerry recovery setup --threshold 2 --yes', 'the custodians are missing')
      await refused(admin, `skerry recovery setup --threshold 3 ${named()}`, 'Run again with `--yes` to do it.')
      const all = 'all 5 custodians are needed: if one of them loses their key or leaves, nothing can be recovered'
      await refused(admin, `skerry recovery setup --threshold 5 ${named()}`, all)
      expect((await admin.shell(`skerry recovery setup --threshold 3 ${named()}`)).stderr).not.toContain('are needed')
      expect((await json(admin, 'skerry recovery status')).recovery).toBeNull()
    })

    test('gives each custodian a valid share, and covers the existing environments', async () => {
      const { fingerprint, coverage } = await json(admin, `skerry recovery setup --threshold 3 ${named()} --yes`)
      expect(coverage).toMatchObject({ protected: 1, total: 1 })
      for (const custodian of custodians) expect(await custodian.ok('skerry recovery share')).toBe(`${fingerprint}\n`)
      await refused(newcomer, 'skerry recovery share', 'this needs a share')
      expect(await admin.ok('skerry recovery status')).toContain('last drill: never')
    })

    test('makes new environments, branches and re-keyed environments covered automatically', async () => {
      await admin.ok('skerry env create production && skerry branch create pr-1 --env development')
      await admin.ok('skerry env rekey development --yes')
      expect((await json(admin, 'skerry recovery status')).coverage).toMatchObject({
        protected: 3,
        unprotectedEnvIds: [],
      })
    })
  })

  describe('a recovery request', () => {
    test('gives a newcomer a key that they were never granted, after three of five custodians contributed', async () => {
      await refused(newcomer, 'skerry secrets get VALUE --app shop --env development', /(do|does) not have the key/)
      const id = await request(newcomer)
      const words = await wordsOf(newcomer)
      await refused(newcomer, `skerry recovery complete ${id}`, '0 of 3 shares')
      expect((await contribute(by(0), id, words)).code).toBe(0)
      await refused(by(0), `skerry recovery contribute ${id} --words "${words}"`, 'already contributed to this request')
      await refused(
        by(1),
        `skerry recovery contribute ${id} --words "${await wordsOf(admin)}"`,
        'your words do not match the key in this request; nothing was given',
      )
      await refused(by(1), `skerry recovery contribute ${id}`, '--words is missing')
      expect((await contribute(by(1), id, words)).code).toBe(0)
      await refused(newcomer, `skerry recovery complete ${id}`, '2 of 3 shares')
      expect((await contribute(by(4), id, words)).stderr).toContain('these are enough; ')
      await refused(admin, `skerry recovery complete ${id}`, 'is for another person')
      await newcomer.ok(`skerry recovery complete ${id} --only shop/development`)
      expect(await newcomer.ok('skerry secrets get VALUE --reveal --app shop --env development')).toContain(value)
      await refused(newcomer, 'skerry secrets get VALUE --app shop --env production', /(do|does) not have the key/)
      await refused(by(2), `skerry recovery contribute ${id} --words "${words}"`, /is completed|needs/)
    })

    test('names the custodian of a false share, and succeeds with enough other shares', async () => {
      const id = await request(newcomer)
      const words = await wordsOf(newcomer)
      for (const index of [0, 1, 2]) await contribute(by(index), id, words)
      const { publicKeyJwk } = await json(newcomer, 'skerry keys fingerprint')
      const noise = await wrapKey(crypto.getRandomValues(new Uint8Array(203)), publicKeyJwk)
      liar.lie(/\/recovery\/requests\/rcr_/, (body) => ({
        ...body,
        shares: body.shares?.map((one: { shareIndex: number }) =>
          one.shareIndex === 2 ? { ...one, contributedShare: noise } : one,
        ),
      }))
      const there = newcomer.env.SKERRY_URL
      newcomer.env.SKERRY_URL = liar.url
      await refused(
        newcomer,
        `skerry recovery complete ${id}`,
        `these shares do not belong to the recovery key: share 2 of ${by(1).email}`,
      )
      await contribute(by(3), id, words)
      const { stderr } = await newcomer.shell(`skerry recovery complete ${id}`)
      expect(stderr).toContain(`share 2 of ${by(1).email} is false and was not used`)
      liar.repent()
      newcomer.env.SKERRY_URL = there as string
    })

    test('ends when an admin cancels it', async () => {
      const id = await request(newcomer)
      const again = await admin.shell(`skerry recovery request ${newcomer.email} --reason "the same again"`)
      expect([again.code, again.stdout, again.stderr]).toEqual([
        0,
        `${id}\n`,
        expect.stringMatching(
          /the request that you opened .* is still open, so no new one was made; its reason did not change/,
        ),
      ])
      await refused(admin, `skerry recovery cancel ${id}`, 'Run again with `--yes` to do it.')
      await admin.ok(`skerry recovery cancel ${id} --yes`)
      expect((await contribute(by(0), id, await wordsOf(newcomer))).code).toBeGreaterThan(0)
      await refused(newcomer, `skerry recovery complete ${id}`, 'is cancelled')
    })
  })

  test('a second admin gets the open request of the first one, which either of them may cancel', async () => {
    const id = await request(newcomer)
    const other = await invited('other-admin@example.com', 'admin')
    const again = await other.shell(`skerry recovery request ${newcomer.email}`)
    expect([again.code, again.stdout]).toEqual([0, `${id}\n`])
    expect(again.stderr).toMatch(
      /the request that admin@example\.com opened .* is still open, so no new one was made\n/,
    )
    const { requests } = await json(admin, 'skerry recovery status')
    expect(requests.filter(({ status }: { status: string }) => status === 'open')).toMatchObject([{ id }])
    await other.ok(`skerry recovery cancel ${id} --yes`)
    await other.remove()
  })

  describe('a person who forgot the passphrase', () => {
    test('makes new keys, and can read again after custodians have compared the new words', async () => {
      await newcomer.write('../passphrase', 'marble otter quilt lantern brisk fjord\n')
      await refused(
        newcomer,
        'skerry secrets get VALUE --reveal --app shop --env development',
        'does not open your keyring',
      )
      const before = await wordsOf(newcomer)
      await admin.ok(`skerry members trust ${newcomer.email} --yes`)
      const open = await request(newcomer)
      const words = (await newcomer.ok('skerry keys replace --yes --new-file ../passphrase')).trim()
      expect(words).not.toBe(before)
      await refused(
        newcomer,
        'skerry secrets get VALUE --reveal --app shop --env development',
        /(do|does) not have the key/,
      )
      // A request for the old key cannot be completed.
      await refused(
        by(0),
        `skerry recovery contribute ${open} --words "${before}"`,
        'the keys of the target have changed',
      )
      await admin.ok(`skerry recovery cancel ${open} --yes`)
      await refused(admin, `skerry recovery request ${newcomer.email}`, 'has a different key than before')
      await admin.ok(`skerry members trust ${newcomer.email} --yes`)
      const id = await request(newcomer)
      for (const index of [0, 2, 3]) expect((await contribute(by(index), id, words)).code).toBe(0)
      await newcomer.ok(`skerry recovery complete ${id}`)
      expect(await newcomer.ok('skerry secrets get VALUE --reveal --app shop --env development')).toContain(value)
    })
  })

  describe('a service token that has lost its keys', () => {
    test('can read again after custodians have compared its words, and nobody else can complete its request', async () => {
      const made = await json(admin, 'skerry token create robot --unbound --app shop --env development')
      const robot = await newMachine(server.url)
      robot.env.SKERRY_TOKEN = made.token
      const { id: tokenId } = made.serviceToken
      const read = 'skerry secrets get VALUE --reveal --app shop --env development'
      await admin.ok(`skerry grant revoke ${tokenId} --app shop --env development --yes`)
      const said = async (command: string) => {
        const { code, stdout, stderr } = await robot.shell(command)
        expect([command, code, stderr]).toEqual([command, 0, expect.any(String)])
        return stdout
      }
      expect((await robot.shell(read)).stderr).toMatch(/(do|does) not have the key/)
      await refused(
        admin,
        `skerry recovery request ${tokenId} --user ${admin.email}`,
        'you named more than one member or token',
      )
      await refused(admin, `skerry recovery request skt_${'a'.repeat(22)}`, 'there is no token')
      const id = (await admin.ok(`skerry recovery request ${tokenId} --reason "granted to nobody else"`)).trim()
      const words = (await said('skerry keys fingerprint')).trim()
      await refused(
        by(0),
        `skerry recovery contribute ${id} --words "${await wordsOf(newcomer)}"`,
        'your words do not match the key in this request; nothing was given',
      )
      for (const index of [0, 1]) expect((await contribute(by(index), id, words)).code).toBe(0)
      expect((await robot.shell(`skerry recovery complete ${id}`)).stderr).toContain('2 of 3 shares')
      expect((await contribute(by(3), id, words)).code).toBe(0)
      await refused(admin, `skerry recovery complete ${id}`, 'is for another person')
      await said(`skerry recovery complete ${id} --only shop/development`)
      expect(await said(read)).toContain(value)
      const kept = JSON.parse(await admin.ok('skerry audit --action recovery_request.completed --limit 1 --json'))
      expect(kept).toMatchObject({ resourceId: id, actorId: tokenId, metadata: { targetType: 'service_token' } })
      await admin.ok(`skerry token revoke ${tokenId} --yes`)
      await refused(admin, `skerry recovery request ${tokenId}`, 'is revoked')
      await robot.remove()
    })
  })

  describe('a drill', () => {
    test('passes when the threshold is met, and its date is shown', async () => {
      const id = (await admin.ok('skerry recovery drill')).trim()
      const { fingerprint: words } = await json(admin, 'skerry recovery status').then(async ({ requests }) => {
        const { fingerprintWords } = await import('@skerry/crypto/fingerprint-words')
        const open = requests.find((one: { id: string }) => one.id === id)
        return { fingerprint: await fingerprintWords(open.targetPublicKeyJwk) }
      })
      for (const index of [2, 3]) expect((await contribute(by(index), id, words)).code).toBe(0)
      await refused(admin, `skerry recovery drill ${id}`, '2 of 3 shares')
      await contribute(by(4), id, words)
      await refused(newcomer, `skerry recovery drill ${id}`, /not a drill that was started|needs the admin role/)
      const { lastDrillAt } = await json(admin, `skerry recovery drill ${id}`)
      expect(lastDrillAt).toMatch(/^\d{4}-/)
      expect(await admin.ok('skerry recovery status')).toContain(`last drill: ${lastDrillAt}`)
    })
  })

  describe('a server that shows another recovery key', () => {
    test('is given no key of a new environment, and no share, until a person has compared it', async () => {
      const { publicKeyJwk } = await generateKeyPair()
      liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk: publicKeyJwk }))
      await refused(
        admin,
        'skerry env create staging',
        'this organization has a different recovery key than before; nothing was changed',
      )
      await refused(admin, 'skerry env rekey development --yes', 'has a different recovery key than before')
      await refused(admin, 'skerry branch create pr-2 --env development', 'has a different recovery key than before')
      await refused(admin, 'skerry recovery trust', 'Run again with `--yes` to do it.')
      liar.repent()
      expect(await admin.ok('skerry env ls')).not.toContain('staging')
      liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk: null }))
      const { stderr } = await admin.shell('skerry env create hidden')
      expect(stderr).toContain('shows none now')
      liar.repent()
      await admin.ok('skerry recovery cover')
    })
  })

  describe('a server that shows another key of an environment', () => {
    test('makes a rotation of the recovery key fail, and the coverage stays unchanged', async () => {
      const { members } = await json(admin, 'skerry members ls')
      const own = members.find((one: { email: string }) => one.email === admin.email)
      const wrappedDek = await wrapKey(new Uint8Array(randomBytes(32)), own.publicKeyJwk)
      const before = (await json(admin, 'skerry recovery status')).coverage
      liar.lie(/\/envs\/[^/]+\/key$/, () => ({ wrappedDek }))
      await refused(admin, 'skerry recovery rotate --threshold 2 --yes', 'has changed since this machine last used it')
      liar.repent()
      expect((await json(admin, 'skerry recovery status')).coverage).toEqual(before)
    })
  })

  describe('a custodian who leaves', () => {
    test('is reported by skerry recovery status, and a rotation makes new shares', async () => {
      const removed = await admin.shell(`skerry members rm ${by(4).email} --yes --json`)
      expect(removed.stderr).toContain('holds a share of the recovery key: 4 shares remain, and 3 are needed')
      expect(removed.stderr).toContain('skerry recovery rotate --custodian <member>')
      expect(JSON.parse(removed.stdout).recovery).toEqual({ left: 4, threshold: 3, isEnough: true })
      expect((await json(admin, 'skerry recovery status')).coverage.custodiansGone).toBe(1)
      const { stderr } = await admin.shell('skerry recovery status')
      expect(stderr).toContain('1 custodian left or replaced their keys')
      const { fingerprint } = await json(admin, 'skerry recovery rotate --threshold 2 --yes')
      await refused(by(0), 'skerry recovery share', 'has a different recovery key than before')
      await by(0).ok('skerry recovery trust --yes')
      expect(await by(0).ok('skerry recovery share')).toBe(`${fingerprint}\n`)
      await admin.ok('skerry recovery disable --yes')
      expect((await json(admin, 'skerry recovery status')).recovery).toBeNull()
    })
  })
})
