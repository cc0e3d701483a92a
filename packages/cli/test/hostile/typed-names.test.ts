import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type AppPlatform, startAppPlatform } from '../../../server/test/services/app-platform.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A person types a name, and the malicious server finds the id of another object for it, consistently in all its answers. The
// person would change or delete another object, or sign its end.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let platform: AppPlatform
let server: PeopleServer
let liar: Liar
/** Signs the directory. */
let ada: PersonMachine
/** Is an admin with a pin, and signs nothing. */
let bob: PersonMachine
let carol: PersonMachine

beforeAll(async () => {
  platform = await startAppPlatform()
  server = await openPeopleServer(platform.settings)
  liar = await openLiar(server.url)
  ada = await newKeyHolder(server, 'ada@example.com', liar.url)
  await ada.ok('skerry keys unlock && skerry org create "Typed Names" && skerry init --yes --env development')
  await ada.ok('skerry app create billing && skerry env create production --app billing')
  await ada.ok('skerry group create one && skerry group create two && skerry group create three')
  await ada.ok('skerry env create layered')
  for (const group of ['one', 'two', 'three']) await ada.ok(`skerry env create layered --group ${group}`)
  await ada.ok('skerry compose set one --env layered && skerry compose set two --env layered')
  await ada.ok('skerry trust init --yes')
  bob = await joined('bob@example.com')
  carol = await joined('carol@example.com')
  for (const person of [bob, carol]) await ada.ok(`skerry grant ${person.email} development`)
})
afterEach(() => liar.repent())
afterAll(async () => {
  await ada.ok('skerry keys lock')
  await Promise.all([ada, bob, carol].map((machine) => machine?.remove()))
  await liar.close()
  await server.close()
  await platform.stop()
})

async function joined(email: string): Promise<PersonMachine> {
  const person = await newKeyHolder(server, email, liar.url)
  await ada.ok(`skerry invite create ${email} --role admin --code-file ${email}`)
  await person.ok(`echo ${(await ada.read(email)).trim()} | skerry invite accept --code`)
  await person.write('skerry.json', await ada.read('skerry.json'))
  return person
}

/** A machine without memory, which has the pin of skerry.json. */
const fresh = () => ({
  env: { XDG_STATE_HOME: join(ada.home, `state-${++count}`), XDG_CONFIG_HOME: join(ada.home, `config-${count}`) },
})
let count = 0

/** Swaps a text of two objects wherever the server shows it. */
function swap(path: RegExp, member: string, one: string, other: string): void {
  const swapped = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(swapped)
    if (typeof value !== 'object' || value === null) return value
    const rows = Object.entries(value).map(([key, inner]) => {
      if (key !== member) return [key, swapped(inner)]
      return [key, inner === one ? other : inner === other ? one : inner]
    })
    return Object.fromEntries(rows)
  }
  liar.lie(path, swapped)
}

/** Checks that the command is refused with these words, and that it sent no change. */
async function refused(machine: PersonMachine, command: string, told: string, options = {}): Promise<void> {
  const { code, stdout, stderr } = await machine.shell(command, options)
  expect([command, code, stdout, stderr]).toEqual([command, 3, '', expect.stringContaining(told)])
  expect([command, liar.sent()]).toEqual([command, []])
}

describe('the name of another object than this machine knows', () => {
  it('deletes no other application or group, and changes none', async () => {
    swap(/\/apps(?:\?|\/\w+$|$)/, 'slug', 'shop', 'billing')
    for (const command of ['app rm billing --yes', 'app rename billing Bills', 'env create staging --app billing'])
      await refused(ada, `skerry ${command}`, 'as the application shop, and the server shows it as billing')
    liar.repent()
    swap(/\/groups(?:\?|\/\w+$|$)/, 'slug', 'one', 'two')
    for (const command of ['group rm one --yes', 'group rename one First', 'compose rm one --env layered --yes'])
      await refused(ada, `skerry ${command}`, 'as the group two, and the server shows it as one')
  })

  it('deletes no other sync connection, and pushes nothing through it', async () => {
    await ada.write('platform', `${platform.token}\n`)
    for (const name of ['live', 'test']) await ada.ok(`skerry sync connect fly.io --name ${name} --file platform --yes`)
    swap(/\/sync\/connections/, 'name', 'live', 'test')
    for (const command of ['disconnect test --yes', 'rename test other', 'replace test --file platform --yes'])
      await refused(ada, `skerry sync ${command}`, 'as the sync connection live, and the server shows it as test')
    liar.repent()
    const { connections } = JSON.parse(await ada.ok('skerry sync ls --json'))
    const live = connections.find(({ name }: Json) => name === 'live')
    liar.lie(/\/sync\/connections/, (body) => ({
      ...body,
      connections: body.connections?.map((one: Json) => ({ ...one, id: one.id.replace(/.$/, '0') })),
    }))
    await refused(ada, 'skerry sync disconnect live --yes', 'the sync connection live is another one than before')
    liar.repent()
    const bind = 'sync bind live --to appName=shop --env development --mode manual --yes --json'
    const { binding } = JSON.parse(await ada.ok(`skerry ${bind}`))
    swap(/\/apps\/\w+\/envs/, 'slug', 'development', 'layered')
    for (const command of [`unbind ${binding.id} --yes`, `pause ${binding.id}`])
      await refused(ada, `skerry sync ${command}`, 'is now the environment that was called shop/development')
    liar.repent()
    await ada.ok(`skerry sync unbind ${binding.id} --yes`)
    // A person who types the id has named the connection itself.
    swap(/\/sync\/connections/, 'name', 'live', 'test')
    await ada.ok(`skerry sync disconnect ${live.id} --yes`)
    expect(liar.sent().at(-1)).toContain(live.id)
  })

  it('signs no policy for another agent, and deletes none', async () => {
    await ada.ok('skerry agent create builder && skerry agent create deployer')
    await ada.write('rules.json', JSON.stringify([{ host: 'example.com', methods: [], paths: [], allow: ['A'] }]))
    swap(/\/agents(?:\?|$)/, 'slug', 'builder', 'deployer')
    for (const command of [
      'policy publish builder --file rules.json --yes',
      'disable builder --yes',
      'rm builder --yes',
    ])
      await refused(ada, `skerry agent ${command}`, 'as the agent deployer, and the server shows it as builder')
    const { agents } = liar.heard(/\/agents(?:\?|$)/)
    const publish = `skerry agent policy publish ${agents[0].id} --file rules.json --yes`
    await refused(ada, publish, 'a slug never changes: do not trust the server')
  })

  it('deletes no other team or machine client, and adds nobody to another team', async () => {
    await ada.ok('skerry teams create payments && skerry teams create support')
    swap(/\/teams(?:\?|$)/, 'name', 'payments', 'support')
    for (const command of ['include payments bob@example.com', 'rename payments other', 'rm payments --yes'])
      await refused(ada, `skerry teams ${command}`, 'as the team support, and the server shows it as payments')
    liar.repent()
    await ada.ok('skerry client create old && skerry client create new')
    swap(/\/clients(?:\?|$)/, 'name', 'old', 'new')
    await refused(ada, 'skerry client revoke old --yes', 'as the machine client new, and the server shows it as old')
  })

  it('deletes no token of a program as a decoy', async () => {
    const { serviceToken } = JSON.parse(await ada.ok('skerry token create ci --env development --json'))
    const { honeyToken } = JSON.parse(await ada.ok('skerry honey create wiki --json'))
    liar.lie(/\/honey-tokens/, (body) => ({
      ...body,
      honeyTokens: body.honeyTokens?.map((one: Json) => ({ ...one, tokenId: serviceToken.id })),
    }))
    const remove = `skerry honey rm ${honeyToken.id} --yes`
    await refused(ada, remove, `shows the token ci as the decoy ${honeyToken.id}`)
  })

  it('is accepted with skerry env trust if somebody made the application anew', async () => {
    await ada.ok('skerry app create again && skerry env create development --app again')
    const elsewhere = `export XDG_STATE_HOME=$HOME/other XDG_CONFIG_HOME=$HOME/other-config`
    await ada.ok(`${elsewhere}; skerry app rm again --yes && skerry app create again`)
    await ada.ok(`${elsewhere}; skerry env create development --app again`)
    // Starts to count the requests from here.
    liar.lie(/^$/, (body) => body)
    await refused(ada, 'skerry app rename again Again', 'the application again is another one than before')
    await ada.ok('skerry env trust again/development --yes && skerry app rename again Again')
  })
})

describe('the id of an application or a group', () => {
  it('ends and makes no signed environment of the slug that only the server shows for it', async () => {
    await ada.ok('skerry app create spare')
    const { apps } = JSON.parse(await ada.ok('skerry app ls --json'))
    const { id } = apps.find(({ slug }: Json) => slug === 'spare')
    liar.lie(new RegExp(`/apps/${id}$`), (body) => ({ ...body, app: { ...body.app, slug: 'billing' } }))
    liar.lie(/\/apps(?:\?|$)/, (body) => ({
      ...body,
      apps: body.apps?.map((one: Json) => (one.id === id ? { ...one, slug: 'billing' } : one)),
    }))
    // The machine knows the slug of the id.
    await refused(
      ada,
      `skerry app rm ${id} --yes`,
      `${id} as the application spare, and the server shows it as billing`,
    )
    const made = await ada.shell(`skerry env create live --app ${id}`, fresh())
    expect(made.stderr).toContain('not signed: environment billing/live')
    expect(liar.received().filter((body) => body.includes('"head"'))).toEqual([])
    liar.repent()
    await ada.ok('skerry trust sign --yes')
  })
})

describe('the name of a person or a token', () => {
  it('ends nobody else, for an admin with a pin who signs nothing', async () => {
    const emails = ['carol@example.com', 'ada@example.com'] as const
    swap(/\/members/, 'email', ...emails)
    const told = 'you named carol@example.com, and the signed directory says that '
    for (const command of [
      'members rm carol@example.com --yes',
      'members role carol@example.com member',
      'members offboard carol@example.com --yes',
      'grant revoke carol@example.com --env development --yes',
    ])
      await refused(bob, `skerry ${command}`, told)
    liar.repent()
    await ada.ok('skerry token create old --unbound && skerry token create live --unbound')
    swap(/\/tokens/, 'name', 'old', 'live')
    for (const command of ['token revoke old --yes', 'token rename old other', 'token rm old --yes'])
      await refused(bob, `skerry ${command}`, 'you named old, and the signed directory says that ')
  })
})

describe('the offboarding of a person', () => {
  const showCarolAs = (more: Json) => {
    const show = (one: Json) => (one?.email === 'carol@example.com' ? { ...one, ...more } : one)
    liar.lie(/\/members/, (body) => ({ ...body, members: body.members?.map(show) }))
    liar.lie(/\/offboardings\/preview/, (body) => ({ ...body, preview: show(body.preview) }))
  }

  it('is not started by a script that names a display name', async () => {
    showCarolAs({ name: 'Bob', email: 'bob@example.com' })
    const { code, stderr } = await ada.shell('skerry members offboard Bob --yes')
    expect([code, stderr]).toEqual([2, expect.stringContaining('name the person by e-mail address: carol@example.com')])
    expect(liar.sent()).toEqual([])
  })

  it('shows the address in the signed directory for a display name', async () => {
    showCarolAs({ name: 'Bob', email: 'bob@example.com' })
    const { code, stdout } = await ada.terminal('skerry members offboard Bob', [['to start', 'bob@example.com\r']])
    expect([code, liar.sent()]).toEqual([1, []])
    expect(stdout.replace(/\s+/g, ' ')).toContain('Type carol@example.com to start')
  })

  it('ends no token that the person was not shown, and signs the end of a person named by display name', async () => {
    const { serviceToken } = JSON.parse(await ada.ok('skerry token create robot --unbound --admin --json'))
    showCarolAs({ name: 'Carol Smith' })
    const revoked = { kind: 'service_token', id: serviceToken.id, name: 'robot' }
    liar.lie(/\/offboardings(?:\?|$)/, (body) =>
      body.offboarding ? { ...body, offboarding: { ...body.offboarding, revoked: [revoked] } } : body,
    )
    const answers: [string, string][] = [['to start', 'carol@example.com\r']]
    const { code, stdout } = await ada.terminal('skerry members offboard "Carol Smith"', answers)
    const told = stdout.replace(/\s+/g, ' ')
    expect([code, told]).toEqual([0, expect.stringContaining('person carol@example.com: deleted')])
    expect(told).toContain('Carol Smith is carol@example.com')
    expect(told).toContain('not signed: token robot')
    liar.repent()
    expect(JSON.parse(await ada.ok('skerry trust status --json')).unsigned).toEqual([])
  })
})

describe('an offboarding that only the server shows', () => {
  it('gives the person no new key, and does not count as signed', async () => {
    const { principal } = JSON.parse(await bob.ok('skerry whoami --json'))
    const asBobs = (one: Json) => one && { ...one, userId: principal.id, email: 'bob@example.com', finishedAt: null }
    liar.lie(/\/offboardings(?:\?|\/ofb_\w+$|$)/, (body) => ({
      ...body,
      ...(body.offboarding && { offboarding: asBobs(body.offboarding) }),
      ...(body.offboardings && { offboardings: body.offboardings.map(asBobs) }),
    }))
    liar.lie(/\/rows/, (body) => ({
      ...body,
      rows: body.rows.map((row: Json) => (row.label === 'shop/development' ? { ...row, state: 'waiting' } : row)),
    }))
    const { code, stderr } = await ada.shell('skerry members offboard bob@example.com --yes')
    expect([code, stderr]).toEqual([1, expect.stringContaining('the signed directory still lists bob@example.com')])
    expect(stderr).toContain('the server still lists bob@example.com as a reader of shop/development')
    expect(liar.sent()).toEqual([])
  })
})

describe('the order of the groups of an environment', () => {
  const layersAre = async (layers: string) => {
    const { unsigned } = JSON.parse(await ada.ok('skerry trust status --json'))
    expect([layers, unsigned]).toEqual([layers, []])
  }
  const showPositions = (positions: Record<string, number>) =>
    liar.lie(/\/envs\/\w+\/groups$/, (body) => ({
      ...body,
      groups: body.groups?.map((one: Json) => ({ ...one, position: positions[one.slug] ?? one.position })),
    }))

  it('has a new group as the last one, wherever the server says that the group is', async () => {
    const { groups } = JSON.parse(await ada.ok('skerry group ls --json'))
    const three = groups.find(({ slug }: Json) => slug === 'three')
    liar.lie(/\/envs\/\w+\/groups$/, (body, method) =>
      method === 'GET'
        ? { ...body, groups: [{ groupId: three.id, slug: 'three', name: 'three', position: -1 }, ...body.groups] }
        : body,
    )
    const { stderr } = await ada.shell('skerry compose set three --env layered')
    expect(stderr).toContain('includes one:layered, two:layered, three:layered')
    liar.repent()
    await layersAre('the last')
    await ada.ok('skerry compose rm three --env layered --yes')
  })

  it('is shown before a position is signed', async () => {
    showPositions({ one: 5, two: 6 })
    const command = 'skerry compose set three --position 3 --env layered'
    const { code, stderr } = await ada.shell(command)
    expect([code, stderr]).toEqual([2, expect.stringContaining('a later one overrides: three, one, two')])
    expect(liar.sent()).toEqual([])
    liar.repent()
    const done = await ada.shell(`${command} --yes`)
    expect(done.stderr).toContain('includes one:layered, two:layered, three:layered')
    await layersAre('as shown')
  })
})
