import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// A person replaces values for themselves alone.

let server: PeopleServer
let alice: PersonMachine
let bob: PersonMachine
let count = 0
beforeAll(async () => {
  server = await openPeopleServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  const number = ++count
  alice = await newKeyHolder(server, `alice-${number}@example.com`)
  bob = await newKeyHolder(server, `bob-${number}@example.com`)
  await alice.ok(`skerry org create "Own ${number}" && skerry init --yes --env development`)
  await alice.ok(`skerry invite create ${bob.email}`)
  await bob.ok('skerry invite accept')
  await bob.write('skerry.json', await alice.read('skerry.json'))
  await alice.ok(`skerry grant ${bob.email} --env development --reader ${bob.email}`)
  await alice.ok("printf 'PORT=3000\\nURL=http://localhost:${PORT}\\n' | skerry secrets import -")
  return async () => {
    for (const one of [alice, bob]) await one.remove()
  }
})

const print = `sh -c 'echo "$PORT $URL $EXTRA"'`
const run = (who: PersonMachine, more = '') => who.shell(`skerry run ${more} -- ${print}`)
const keep = (who: PersonMachine, name: string, value: string) =>
  who.shell(`printf %s '${value}' | skerry secrets override ${name}`)

describe('a personal override', () => {
  it('is used by run of its person, with a line that says so, and by nobody else', async () => {
    expect(await keep(bob, 'PORT', '4000')).toMatchObject({
      code: 0,
      stderr: 'wrote PORT in shop/development for you alone; `skerry run` prefers it on your machines\n',
    })
    await keep(bob, 'EXTRA', 'mine')
    expect(await run(bob)).toMatchObject({
      stdout: '4000 http://localhost:4000 mine\n',
      stderr: '2 personal overrides used: EXTRA, PORT\n',
    })
    expect(await run(alice)).toMatchObject({ stdout: '3000 http://localhost:3000 \n', stderr: '' })
    expect(await run(bob, '--no-overrides')).toMatchObject({ stdout: '3000 http://localhost:3000 \n', stderr: '' })
    const { stderr } = await bob.shell('skerry run --explain -- true')
    expect(stderr).toMatch(/PORT +personal override +shop\/development/)
  })

  it('counts on branches of the environment, and when the server cannot be reached', async () => {
    await keep(bob, 'PORT', '4000')
    await alice.ok('skerry branch create pr-7')
    await alice.ok(`skerry grant ${bob.email} --env development --branch pr-7`)
    await alice.ok('echo -n 5000 | skerry secrets set PORT --branch pr-7')
    expect((await run(bob, '--branch pr-7')).stdout).toBe('4000 http://localhost:4000 \n')
    await run(bob)
    expect((await run(bob, '--offline')).stdout).toBe('4000 http://localhost:4000 \n')
    expect((await run(bob, '--offline --no-overrides')).code).not.toBe(0)
  })

  it('is shown by get with a mark, and left out by everything that writes for others', async () => {
    await keep(bob, 'PORT', '4000')
    expect(await bob.shell('skerry secrets get PORT')).toMatchObject({
      stdout: '4000',
      stderr: 'PORT is your personal override; `--stored` shows the value that others get\n',
    })
    expect(await bob.ok('skerry secrets get PORT --stored')).toBe('3000')
    expect(await bob.ok('skerry secrets export --format dotenv')).toContain('PORT=3000')
    expect(await bob.ok("echo '${PORT}' | skerry secrets substitute -")).toBe('3000\n')
    expect(await bob.ok('skerry secrets ls --reveal')).not.toContain('4000')
  })

  it('is listed, replaced and removed by its person', async () => {
    await keep(bob, 'PORT', '4000')
    await keep(bob, 'PORT', '4001')
    expect(JSON.parse(await bob.ok('skerry secrets overrides --json --reveal')).overrides).toMatchObject([
      { name: 'PORT', value: '4001', revision: 2 },
    ])
    expect(JSON.parse(await alice.ok('skerry secrets overrides --json')).overrides).toEqual([])
    await bob.ok('skerry secrets override PORT --rm')
    expect(await run(bob)).toMatchObject({ stdout: '3000 http://localhost:3000 \n', stderr: '' })
    const again = await bob.shell('skerry secrets override PORT --remove')
    expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('you have no override of PORT')])
  })

  it('survives a re-key of the environment', async () => {
    await keep(bob, 'PORT', '4000')
    await alice.ok('skerry env rekey development --yes')
    await bob.ok('skerry env trust development --yes')
    expect((await run(bob)).stdout).toBe('4000 http://localhost:4000 \n')
  })

  it('ends with the keyring of its person, and runs say so until the person accepts it', async () => {
    await keep(bob, 'PORT', '4000')
    await run(bob)
    await bob.write('../new', 'five new words of mine\n')
    await bob.ok('skerry keys replace --yes --new-file ../new')
    bob.env.SKERRY_PASSPHRASE_FILE = `${bob.home}/new`
    await alice.ok(`skerry members trust ${bob.email} --yes && skerry grant ${bob.email} --env development`)
    for (let i = 0; i < 2; i++) {
      const { stdout, stderr } = await run(bob)
      expect(stdout).toBe('3000 http://localhost:3000 \n')
      expect(stderr).toContain('your personal override of PORT is missing')
    }
    await bob.ok('skerry env trust development --yes')
    expect((await run(bob)).stderr).toBe('')
  })

  it('is refused to a service token, in a group, and as an argument', async () => {
    const group = await alice.shell('skerry group create shared && skerry env create development --group shared')
    expect(group.code).toBe(0)
    const inGroup = await alice.shell('echo -n 1 | skerry secrets override PORT --group shared --env development')
    expect([inGroup.code, inGroup.stderr]).toEqual([2, expect.stringContaining('is a group')])
    const shown = await alice.skerry(['secrets', 'override', 'PORT', '4000'])
    expect([shown.code, shown.stderr.includes('4000')]).toEqual([2, false])
    const both = await alice.skerry(['secrets', 'override', 'PORT', '--remove', '--trim'])
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--remove takes no value')])
    const token = (await alice.ok('skerry token create ci --env development')).trim()
    const asToken = await alice.shell('echo -n 1 | skerry secrets override PORT', { env: { SKERRY_TOKEN: token } })
    expect([asToken.code, asToken.stderr]).toEqual([3, expect.stringContaining('only a person')])
  })

  it('is stored and read with the keyring unlocked in the agent', async () => {
    await bob.ok('skerry keys unlock')
    try {
      bob.env.SKERRY_KEYRING = 'agent'
      delete bob.env.SKERRY_PASSPHRASE_FILE
      expect((await keep(bob, 'PORT', '4000')).stderr).toContain('for you alone')
      expect((await run(bob)).stdout).toBe('4000 http://localhost:4000 \n')
    } finally {
      await bob.skerry(['keys', 'lock'])
    }
  })
})
