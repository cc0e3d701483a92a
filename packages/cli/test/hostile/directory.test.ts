import { join } from 'node:path'
import { generateKeyPair, publicKeyJwkOf } from '@skerry/crypto/keys'
import { newId } from '@skerry/crypto/random'
import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { otherClock } from '../clock.ts'
import { type Machine, newMachine } from '../machine.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { forgedGroup } from './forged.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A malicious server lies to machines that trust the signed directory. A pipeline has nothing but a token with a pin.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let liar: Liar
let ada: PersonMachine
let token: string
let publicKeyJwk: string
const machines: Machine[] = []

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  ada = await newKeyHolder(server, 'directory@example.com', liar.url)
  await ada.ok(`skerry keys unlock && skerry org create "Signed" && skerry init --yes --env development`)
  await ada.ok('skerry env create staging')
  await ada.ok('skerry group create shared && skerry env create development --group shared')
  await ada.ok('skerry compose set shared --env development')
  await ada.ok('printf inner | skerry secrets set A && printf outer | skerry secrets set B --env shared:development')
  await ada.ok('skerry trust init --yes')
  token = (await ada.ok('skerry token create ci --env development')).trim()
  publicKeyJwk = JSON.parse(await ada.ok('skerry keys fingerprint --json')).publicKeyJwk
})
afterEach(() => liar.repent())
afterAll(async () => {
  await ada.ok('skerry keys lock')
  await Promise.all([ada, ...machines].map((machine) => machine.remove()))
  await liar.close()
  await server.close()
})

/** A machine that nobody has used before, with the token alone. */
async function freshMachine(of = token): Promise<Machine> {
  const machine = await newMachine(liar.url)
  machines.push(machine)
  machine.env.SKERRY_TOKEN = of
  return machine
}

describe('a token with a pin on a fresh machine', () => {
  it('reads from an honest server', async () => {
    expect(token).toMatch(/^skt_\w{22}_[\w-]{43}\.[\w-]{43}(?:@\d+)?\.shop\/development$/)
    const machine = await freshMachine()
    for (const [command, shown] of [
      [`run -- sh -c 'echo "$A $B"'`, 'inner outer'],
      ['secrets ls --json', 'shop/development'],
      ['secrets get A', 'inner'],
      ['secrets export --format json', 'outer'],
      ['env ls --app shop', 'development'],
      ['whoami --json', token.slice(0, 26)],
      ['doctor', 'has the pin of'],
    ])
      expect([command, await machine.shell(`skerry ${command}`)]).toEqual([
        command,
        expect.objectContaining({ code: 0, stdout: expect.stringContaining(shown!) }),
      ])
    // What was verified is remembered, so that an older directory is refused later.
    expect(await machine.read('../.config/skerry/known-directories.json')).toContain('"head"')
  })

  it('that lost its pin still reads, and skerry doctor warns', async () => {
    const machine = await freshMachine(token.split('.')[0])
    expect(await machine.shell('skerry secrets get A')).toMatchObject({ code: 0, stdout: 'inner' })
    expect(await machine.shell('skerry doctor')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/warn +signed directory: signed has one, .* check that you copied all of it/s),
    })
  })

  it('is told by skerry doctor what to do if the server’s key is for another private key', async () => {
    const machine = await freshMachine(token.split('.')[0])
    const foreign = await wrapKey(newDek(), publicKeyJwkOf((await generateKeyPair()).privateKey))
    liar.lie(/./, (body) => (body.wrappedDek ? { ...body, wrappedDek: foreign } : body))
    const { code, stdout } = await machine.shell('skerry doctor')
    expect([code, stdout]).toEqual([1, expect.stringMatching(/FAIL +key: .*`skerry keys trust`/s)])
    expect(stdout).toContain('skerry.json: not found; a token for one environment needs none')
    expect(stdout).not.toContain('run `skerry doctor`')
  })

  it('is for its environment alone', async () => {
    const machine = await freshMachine()
    expect(await machine.skerry(['run', '--env', 'staging', '--', 'true'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('this token is for shop/development, not for shop/staging'),
    })
  })

  const lies: [what: string, told: string, rewrite: (body: Json) => unknown][] = [
    ['shows no directory', 'shows no signed directory', (body) => ({ ...body, directory: null })],
    [
      'leaves out a layer',
      'expected shop/development with shared:development',
      (body) => ({ ...body, layers: body.layers.slice(1) }),
    ],
    [
      'shows another environment',
      'expected shop/development with the id env_',
      (body) => {
        const envId = newId('environment')
        const [group, app] = body.layers
        return { ...body, scope: { ...body.scope, envId }, layers: [group, { ...app, environmentId: envId }] }
      },
    ],
    ['shows no proof', 'no entry', (body) => ({ ...body, directory: { ...body.directory, proofs: [] } })],
    [
      'shows no head',
      'is not a document of the directory',
      (body) => ({ ...body, directory: { ...body.directory, heads: [] } }),
    ],
  ]

  it.each(lies)('refuses a server that %s', async (_, told, rewrite) => {
    const machine = await freshMachine()
    liar.lie(/\/resolve/, rewrite)
    const { code, stdout, stderr } = await machine.shell('skerry run -- echo started')
    expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: '', stderr: expect.stringContaining(told) })
    // Commands that look the environment up first may find none.
    const exported = await machine.shell('skerry secrets export --format json')
    expect({ ...exported, isRefused: exported.code !== 0 }).toMatchObject({ isRefused: true, stdout: '' })
  })

  it('leaves out a layer that nobody signed', async () => {
    const machine = await freshMachine()
    const forged = { ...(await forgedGroup(publicKeyJwk, { A: 'evil', C: 'evil' })), slug: 'development' }
    liar.lie(/\/resolve/, (body) => ({ ...body, layers: [forged, ...body.layers] }))
    expect(await machine.shell(`skerry run -- sh -c 'echo "$A $B $C"'`)).toMatchObject({
      code: 0,
      stdout: 'inner outer \n',
      stderr: expect.stringContaining('extra:development was left out'),
    })
    const strict = { env: { SKERRY_STRICT: '1' } }
    expect((await machine.shell('skerry run -- true', strict)).code).toBe(3)
  })
})

describe('skerry.json with a pin', () => {
  it('makes a machine verify, and a malformed pin is refused', async () => {
    const project = JSON.parse(await ada.read('skerry.json'))
    const machine = await freshMachine(token.split('.')[0])
    await machine.write('skerry.json', JSON.stringify(project))
    expect(await machine.shell('skerry run -- printenv A')).toMatchObject({ code: 0, stdout: 'inner\n' })
    liar.lie(/\/resolve/, (body) => ({ ...body, directory: null }))
    expect((await machine.shell('skerry run -- true')).code).toBe(3)
    await machine.write('skerry.json', JSON.stringify({ ...project, pin: 'abc' }))
    expect(await machine.shell('skerry run -- true')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'pin' is not a pin"),
    })
  })
})

/** A machine that has seen no environment before. The signed directory alone protects it. */
const forgetful = () => ({ env: { XDG_STATE_HOME: join(ada.home, `empty-${++count}`) } })
let count = 0
/** A machine that also knows no key and no name, and has the pin of skerry.json. */
const fresh = () => ({ env: { ...forgetful().env, XDG_CONFIG_HOME: join(ada.home, `config-${count}`) } })

describe('a person whose machine knows the directory', () => {
  it('shows no list with a layer missing, and is told by address who could sign', async () => {
    liar.lie(/\/resolve/, (body) => ({ ...body, layers: body.layers.slice(1) }))
    for (const command of ['skerry secrets ls', 'skerry run -- true']) {
      const { code, stdout, stderr } = await ada.shell(command)
      expect([command, code, stdout]).toEqual([command, 3, ''])
      expect(stderr).toContain('expected shop/development with shared:development')
      expect(stderr).toContain('could be signed by directory@example.com')
    }
  })

  it('gives no key to a reader whom the server adds', async () => {
    const stranger = { principalType: 'user', principalId: newId('user'), publicKeyJwk }
    liar.lie(/\/grantees/, (body) => ({ ...body, grantees: [...body.grantees, { ...body.grantees[0], ...stranger }] }))
    const { code, stderr } = await ada.shell('skerry env rekey development --yes')
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining(stranger.principalId) })
    expect(stderr).toContain('shown by the server, is no reader of shop/development in the signed directory')
    expect(liar.sent()).toEqual([])
  })

  it('stores no secret in an environment that the server shows under another name', async () => {
    liar.lie(/\/apps\/\w+\/envs$/, (body) => ({
      ...body,
      environments: body.environments.map((one: Json) => ({
        ...one,
        slug: one.slug === 'staging' ? 'development' : 'staging',
      })),
    }))
    const { code, stderr } = await ada.shell('printf x | skerry secrets set A --env staging', forgetful())
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('the signed directory says') })
    expect(liar.sent()).toEqual([])
  })

  it('uses a branch that a reader of its parent vouches for, also after a re-key, and no other', async () => {
    await ada.ok('skerry branch create pr-1 --env development')
    await ada.ok('printf branched | skerry secrets set A --env development --branch pr-1')
    const run = () => ada.shell('skerry run --env development --branch pr-1 -- printenv A')
    expect(await run()).toMatchObject({ code: 0, stdout: 'branched\n' })
    await ada.ok('skerry env rekey development --yes')
    expect(await run()).toMatchObject({ code: 0, stdout: 'branched\n' })
    liar.lie(/\/resolve/, (body) => ({
      ...body,
      layers: body.layers.map(({ manifest: _, ...layer }: Json) => layer),
    }))
    expect(await run()).toMatchObject({ code: 3, stderr: expect.stringContaining('with a manifest, came none') })
  })

  it('stores no secret in a branch without a manifest, or under another key than the one in it', async () => {
    const store = () => ada.shell('printf x | skerry secrets set A --env development --branch pr-1', forgetful())
    const forged = (await forgedGroup(publicKeyJwk, {})) as Json
    const { environments } = JSON.parse(await ada.ok('skerry env ls --app shop --json'))
    const staging = environments.find((one: Json) => one.slug === 'staging').id
    for (const [path, lie, reason] of [
      [/\/branches(?:\?|$)/, (one: Json) => ({ ...one, manifest: null }), 'with a manifest, came none'],
      [/\/branches(?:\?|$)/, (one: Json) => ({ ...one, id: staging }), 'the text was changed'],
    ] as const) {
      liar.lie(path, (body) => ({ ...body, branches: body.branches.map(lie) }))
      const { code, stderr } = await store()
      expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining(reason) })
      expect(liar.sent()).toEqual([])
      liar.repent()
    }
    const { branches } = JSON.parse(await ada.ok('skerry branch ls --env development --json'))
    liar.lie(new RegExp(`/${branches[0].id}/key$`), (body) => ({ ...body, wrappedDek: forged.wrappedDek }))
    expect(await store()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('shop/development@pr-1 with the key'),
    })
    expect(liar.sent()).toEqual([])
  })

  it('stores no secret under a head of three weeks ago, which is new enough to read', async () => {
    const machine = await newMachine(liar.url, { cold: true })
    machines.push(machine)
    Object.assign(machine.env, { SKERRY_TOKEN: token, NODE_OPTIONS: otherClock(21) })
    expect(await machine.shell('skerry run -- true')).toMatchObject({ code: 0 })
    const { code, stderr } = await machine.shell('printf x | skerry secrets set A')
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('to write') })
    expect(liar.sent()).toEqual([])
  })

  it('uses no key that nobody signed', async () => {
    const { wrappedDek } = (await forgedGroup(publicKeyJwk, {})) as Json
    liar.lie(/\/key$/, (body) => ({ ...body, wrappedDek }))
    const { code, stderr } = await ada.shell('printf x | skerry secrets set A --env development', forgetful())
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('the signed directory') })
    expect(liar.sent()).toEqual([])
  })

  it('signs no group that the server shows under the name that was typed', async () => {
    await ada.ok('skerry group create other')
    const swap: Readonly<Record<string, string>> = { shared: 'other', other: 'shared' }
    liar.lie(/\/groups(?:\?|$)/, (body) => ({
      ...body,
      groups: body.groups.map((one: Json) => ({ ...one, slug: swap[one.slug] ?? one.slug })),
    }))
    for (const command of ['skerry compose set shared --env staging --yes', 'skerry group rm shared --yes']) {
      const { code, stderr } = await ada.shell(command, fresh())
      expect({ code, stderr }).toMatchObject({ stderr: expect.stringContaining('you named shared') })
      expect(code).not.toBe(0)
      expect(liar.sent()).toEqual([])
    }
  })

  it('signs no application that the server shows under the name that was typed', async () => {
    await ada.ok('skerry app create other')
    liar.lie(/\/apps(?:\?|$)/, (body) => ({
      ...body,
      apps: body.apps.map((one: Json) => ({ ...one, slug: one.slug === 'shop' ? 'other' : 'shop' })),
    }))
    for (const [slug, told] of [
      ['shop', 'you named shop'],
      ['other', 'other/development is shown by the server, and is not in the signed directory'],
    ] as const) {
      const { code, stderr } = await ada.shell(`skerry app rm ${slug} --yes`, fresh())
      expect({ code, stderr }).toMatchObject({ stderr: expect.stringContaining(told) })
      expect(code).not.toBe(0)
      expect(liar.sent()).toEqual([])
    }
  })

  it('signs no change of another token, key or person than the one that was typed', async () => {
    for (const email of ['bob@example.com', 'carol@example.com']) {
      const person = await newKeyHolder(server, email)
      machines.push(person)
      await ada.ok(`skerry invite create ${email} --role admin --code-file ${email}`)
      await person.ok(`echo ${(await ada.read(email)).trim()} | skerry invite accept --code`)
      await ada.ok(`skerry grant ${email} staging`)
    }
    await ada.ok('skerry token create victim --unbound --admin && skerry token create deploy --unbound --admin')
    await ada.ok('skerry kms create invoices && skerry kms create receipts')
    const swaps: [path: RegExp, list: string, member: string, one: string, other: string, commands: string[]][] = [
      [
        /\/tokens(?:\?|$)/,
        'tokens',
        'name',
        'victim',
        'deploy',
        ['token rename victim old', 'token revoke victim --yes'],
      ],
      [/\/kms\/keys(?:\?|$)/, 'keys', 'name', 'invoices', 'receipts', ['kms rm invoices --yes']],
      [
        /\/members(?:\?|$)/,
        'members',
        'email',
        'carol@example.com',
        'bob@example.com',
        ['members role carol@example.com member', 'members rm carol@example.com --yes'],
      ],
    ]
    for (const [path, list, member, one, other, commands] of swaps) {
      const swap: Readonly<Record<string, string>> = { [one]: other, [other]: one }
      liar.lie(path, (body) => ({
        ...body,
        [list]: body[list].map((row: Json) => ({ ...row, [member]: swap[row[member]] ?? row[member] })),
      }))
      for (const command of commands) {
        const { stderr } = await ada.shell(`skerry ${command}`, fresh())
        expect([command, stderr]).toEqual([command, expect.stringContaining(`you named ${one}`)])
        expect([command, liar.received().filter((body) => body.includes('"head"'))]).toEqual([command, []])
      }
      liar.repent()
    }
  })

  it('signs the end of no environment that the server shows as a branch', async () => {
    const { environments } = JSON.parse(await ada.ok('skerry env ls --app shop --json'))
    const { id } = environments.find((one: Json) => one.slug === 'staging')
    liar.lie(/\/branches(?:\?|$)/, (body) => ({
      ...body,
      branches: body.branches.map((one: Json) => ({ ...one, id })),
    }))
    const { code, stderr } = await ada.shell('skerry branch rm pr-1 --env development --yes', fresh())
    expect(code).not.toBe(0)
    expect(stderr).toContain('you named shop/development@pr-1')
    expect(liar.sent()).toEqual([])
  })

  it('grants no missing key of another environment or person than the one that the list names', async () => {
    const { environments } = JSON.parse(await ada.ok('skerry env ls --app shop --json'))
    const idOf = (slug: string) => environments.find((one: Json) => one.slug === slug).id
    await ada.ok('skerry teams create payments && skerry teams include payments bob@example.com carol@example.com')
    await ada.ok('skerry teams grant payments shop/development')
    const lies: [told: string, lie: (row: Json) => Json][] = [
      ['the signed directory says that it is', (row) => ({ ...row, environmentId: idOf('staging') })],
      [
        '@example.com in the signed directory, not ',
        (row) => ({ ...row, email: row.email === 'bob@example.com' ? 'carol@example.com' : 'bob@example.com' }),
      ],
    ]
    for (const [told, lie] of lies) {
      liar.lie(/\/missing-grants/, (body) => ({ ...body, missing: body.missing.map(lie) }))
      const { code, stderr } = await ada.shell('skerry access complete', fresh())
      expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining(told) })
      expect(liar.sent()).toEqual([])
      liar.repent()
    }
    liar.lie(/\/key$/, (body) => ({ ...body, wrappedDek: forged.wrappedDek }))
    const forged = (await forgedGroup(publicKeyJwk, {})) as Json
    const named = '--member bob@example.com --yes --reader bob@example.com'
    const { code, stderr } = await ada.shell(`skerry access complete shop/development ${named}`, fresh())
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('the signed directory') })
    expect(liar.sent()).toEqual([])
  })

  it('gives the next key to nobody whose entry has ended', async () => {
    await ada.ok('skerry grant carol@example.com development --yes')
    const { grantees } = JSON.parse(await ada.ok('skerry env show development --json'))
    const carol = grantees.find(({ name }: Json) => name === 'carol@example.com')
    await ada.ok('skerry env show development --json')
    const without = (claim: Json) => ({
      ...claim,
      readers: claim.readers?.filter(([key]: [string]) => key !== `person/${carol.principalId}`) ?? null,
    })
    liar.lie(/\/directory\/claims/, (body) => ({ ...body, claims: body.claims.map(without) }))
    const { stderr } = await ada.shell('skerry members rm carol@example.com --yes')
    expect(stderr).toContain('reader carol@example.com removed')
    liar.repent()
    liar.lie(/\/grantees/, (body) => ({ ...body, grantees: [...body.grantees, carol] }))
    expect((await ada.shell('skerry env rekey development --yes')).code).toBe(3)
    expect(liar.sent()).toEqual([])
  })
})
