import { changes } from '@skerry/contract/changes/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import { parseToken } from '@skerry/crypto/token'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ciphertext } from '../../server/test/blobs.ts'
import { call, type World } from '../../server/test/world.ts'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { ok as okOn, openPeopleServer, type PeopleServer, passphrase, signIn } from './people.ts'

// A token proposes changes on the command line. A person, signed in with an identity provider, decides through the API.
// In the last tests, two people do both on the command line.

let server: PeopleServer
let machine: Machine
let orgId: string
let envId: string
let proposer: string
let reviewer: string

const send: World['call'] = (endpoint, input) => call(server.url, [], endpoint, input)

beforeAll(async () => {
  server = await openPeopleServer()
  machine = await signedUp(server.url, 'Approval')
  const { profiles, current } = JSON.parse(await ok('cat $HOME/.config/skerry/credentials.json'))
  const { org, token } = profiles[current]
  orgId = org.id
  proposer = `Bearer ${(await parseToken(token)).bearer}`
  envId = JSON.parse(await ok('skerry env show development --json')).environment.id
  const email = 'reviewer@example.com'
  await send(invites.create, { as: proposer, params: { orgId }, body: { email, role: 'admin' } })
  reviewer = `Bearer ${await server.issuer.token({ sub: 'reviewer', email, email_verified: true })}`
  const [invite] = (await send(ownInvites.list, { as: reviewer })).body.invites
  await send(ownInvites.accept, { as: reviewer, params: { inviteId: invite?.id as string } })
  await ok('echo -n before | skerry secrets set DATABASE_URL && skerry env protect development')
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

const ok = (command: string): Promise<string> => okOn(machine, command)

/** Proposes a change on the command line and returns its id. */
async function propose(command: string): Promise<string> {
  return JSON.parse(await ok(`${command} --json`)).changeRequest.id
}

const approve = (changeRequestId: string, comment = 'fine') =>
  send(changes.approve, { as: reviewer, params: { orgId, changeRequestId }, body: { comment } })
const shown = async (id: string) => JSON.parse(await ok(`skerry changes show ${id} --reveal --json`))

describe('a change that is proposed on the command line', () => {
  test('becomes the value that programs get when it is approved, and not before', async () => {
    const id = await propose(`echo -n after | skerry secrets set DATABASE_URL --note 'für Döner 🌯, 100 %'`)
    expect(await shown(id)).toMatchObject({
      changeRequest: { status: 'open', note: 'für Döner 🌯, 100 %' },
      comparison: { state: 'changed', currentVersion: 1, current: 'before', proposed: 'after' },
    })
    expect(await ok('skerry run -- printenv DATABASE_URL')).toBe('before\n')
    expect((await approve(id)).body.status).toBe('applied')
    expect(await ok('skerry run -- printenv DATABASE_URL')).toBe('after\n')
    expect(await ok('skerry secrets history DATABASE_URL')).toMatch(/^2 \*/m)
    expect((await machine.shell(`skerry changes show ${id}`)).stdout).toMatch(/approve +\S+@\S+ +\S+ +fine/)
  })

  test('cannot be made to need two approvals while the organization has only one admin', async () => {
    const alone = await machine.shell('skerry env protect development')
    expect([alone.code, alone.stderr]).toEqual([0, expect.stringContaining('only one member is an admin')])
    const refused = await machine.shell('skerry env protect development --approvals 2')
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('nobody could approve a change')])
    expect(await ok('skerry env show development')).toContain('protection: changes need 1 approval')
  })

  test('waits for approval on a branch too, until the branch alone is unprotected', async () => {
    await ok('skerry branch create try --env development')
    const about = await ok('skerry env show development --branch try')
    expect(about).toContain('shop/development@try (try)')
    expect(about).toContain('protection: changes need 1 approval')
    const waits = await ok('echo -n 1 | skerry secrets set OF_BRANCH --branch try --json')
    expect(JSON.parse(waits).changeRequest.status).toBe('open')
    await ok('skerry env unprotect development --branch try --yes')
    await ok('echo -n 1 | skerry secrets set OF_BRANCH --branch try')
    expect(await ok('skerry secrets get OF_BRANCH --branch try')).toBe('1')
    expect(await ok('skerry env show development')).toContain('protection: changes need 1 approval')
  })

  test('that restores a version shows the value of that version and then applies it', async () => {
    const id = await propose('skerry secrets restore DATABASE_URL 1')
    expect((await shown(id)).comparison).toMatchObject({ state: 'changed', current: 'after', proposed: 'before' })
    await approve(id)
    expect(await ok('skerry secrets get DATABASE_URL')).toBe('before')
  })

  test('is shown as outdated when another change of the secret was applied first', async () => {
    const [first, second] = [
      await propose('skerry secrets set RACED --random 8'),
      await propose('skerry secrets set RACED --random 8'),
    ]
    await approve(first)
    const { stdout, stderr } = await machine.shell(`skerry changes show ${second}`)
    expect(stdout).toContain('status: stale, 0 of 1 approvals')
    expect(stderr).toContain('RACED changed after this was proposed')
    const [advice] = /a stale change .*/.exec((await machine.shell('skerry changes ls')).stderr) ?? []
    expect(advice).toContain('Its proposer or an admin closes it with `skerry changes withdraw`')
    expect(stderr).toContain(advice)
  })

  test('is shown without its value and ciphertext, as text and as JSON', async () => {
    const id = await propose('echo -n planted-plaintext | skerry secrets set MASKED')
    for (const flags of ['', '--json']) {
      const { stdout, stderr } = await machine.shell(`skerry changes show ${id} ${flags}; skerry changes ls ${flags}`)
      expect(stdout).toContain(id)
      expect(stdout + stderr).not.toContain('planted-plaintext')
      expect(stdout).not.toContain('sc1.')
    }
  })
})

describe('a value that does not open with the environment’s key', () => {
  test('is shown as unreadable, and skerry changes approve refuses it', async () => {
    const params = { orgId, envId, name: 'GARBAGE' }
    const { body } = await send(secrets.put, { as: proposer, params, body: { ciphertext: ciphertext() } })
    const { id } = (body as { changeRequest: { id: string } }).changeRequest
    const look = await machine.shell(`skerry changes show ${id}`)
    expect([look.code, look.stdout]).toEqual([0, expect.stringContaining('proposed: unreadable')])
    expect(look.stderr).toContain('do not approve it')
    const { code, stderr } = await machine.shell(`skerry changes approve ${id}`)
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be decrypted with the key of shop/development')])
    expect((await shown(id)).changeRequest.status).toBe('open')
  })
})

describe('a restore of a version from before a rename', () => {
  test('is compared with that version, and refused if the proposer encrypted another value', async () => {
    await ok('skerry env unprotect development --yes')
    await ok('echo -n first | skerry secrets set WAS && skerry secrets rename WAS IS')
    for (const value of ['second', 'third']) await ok(`echo -n ${value} | skerry secrets set IS`)
    await ok('skerry env protect development')
    const honest = await propose('skerry secrets restore IS 1')
    const expected = { state: 'changed', current: 'third', proposed: 'first', restored: 'same' }
    expect((await shown(honest)).comparison).toMatchObject(expected)

    const params = { orgId, envId, name: 'IS' }
    const { versions } = (await send(secrets.versions, { as: proposer, params })).body
    const second = versions.find(({ version }) => version === 3)?.ciphertext as string
    const { body } = await send(secrets.restore, { as: proposer, params, body: { version: 1, ciphertext: second } })
    const { id } = (body as { changeRequest: { id: string } }).changeRequest
    expect((await shown(id)).comparison).toMatchObject({ proposed: 'second', restored: 'different' })
    const look = await machine.shell(`skerry changes show ${id}`)
    expect(look.stderr).toContain('the proposed value is not that of version 1 of IS: do not approve it')
    const { code, stderr } = await machine.shell(`skerry changes approve ${id}`)
    expect([code, stderr]).toEqual([1, expect.stringContaining('was not approved: the proposed value is not that of')])
    expect((await shown(id)).changeRequest.status).toBe('open')
  })
})

describe('a restore whose original nobody can compare', () => {
  test('is called unproven, and is not approved without --yes', async () => {
    await ok('skerry env unprotect development --yes')
    for (const name of ['FORGED', 'AFTER']) await ok(`echo -n x | skerry secrets set ${name}`)
    await ok('echo -n y | skerry secrets set AFTER')
    const read = async (name: string) => {
      const params = { orgId, envId, name }
      return (await send(secrets.versions, { as: proposer, params })).body
    }
    const formerNames = (await read('IS')).formerNames as string
    const [second, first] = (await read('AFTER')).versions.map(({ ciphertext }) => ciphertext) as [string, string]
    await ok('skerry secrets rm AFTER --purge --yes')
    const renamed = { newName: 'AFTER', ciphertext: second, formerNames, expectedVersion: 1 }
    const from = { orgId, envId, name: 'FORGED' }
    expect((await send(secrets.rename, { as: proposer, params: from, body: renamed })).status).toBe(200)
    await ok('skerry env protect development')
    const params = { orgId, envId, name: 'AFTER' }
    const { body } = await send(secrets.restore, { as: proposer, params, body: { version: 1, ciphertext: first } })
    const { id } = (body as { changeRequest: { id: string } }).changeRequest
    expect((await shown(id)).comparison).toMatchObject({ proposed: 'x', restored: 'unproven' })
    const { code, stderr } = await machine.shell(`skerry changes approve ${id}`)
    expect([code, stderr]).toEqual([2, expect.stringContaining('nobody can compare the proposed value with version 1')])
    expect(stderr).toContain('--yes')
    expect((await shown(id)).changeRequest.status).toBe('open')
  })
})

describe('a restore of a deleted secret', () => {
  test('is compared with that secret, and refused if the proposer encrypted another value', async () => {
    await ok('skerry env unprotect development --yes')
    await ok('echo -n other | skerry secrets set LOST && echo -n last | skerry secrets set LOST')
    const params = { orgId, envId, name: 'LOST' }
    const { versions } = (await send(secrets.versions, { as: proposer, params })).body
    const other = versions.find(({ version }) => version === 1)?.ciphertext as string
    await ok('skerry secrets rm LOST --yes && skerry env protect development')
    const honest = await propose('skerry secrets restore LOST')
    expect((await shown(honest)).comparison).toMatchObject({ proposed: 'last', restored: 'same' })

    const { deletedSecretId: secretId } = (await shown(honest)).changeRequest
    const place = { orgId, envId, secretId }
    const { body } = await send(deletedSecrets.restore, { as: proposer, params: place, body: { ciphertext: other } })
    const { id } = (body as { changeRequest: { id: string } }).changeRequest
    expect((await shown(id)).comparison).toMatchObject({ proposed: 'other', restored: 'different' })
    const { code, stderr } = await machine.shell(`skerry changes approve ${id}`)
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not that of the deleted secret LOST')])
    await approve(honest)
    expect(await ok('skerry secrets get LOST')).toBe('last')
    expect((await shown(honest)).comparison.restored).toBeNull()
  })
})

describe('a token without the key', () => {
  test('sees everything about a change except its values', async () => {
    const id = await propose('skerry secrets set UNSEEN --random 8 --note why')
    const token = (await ok('skerry token create bare --admin 2>/dev/null')).trim().split('\n').at(-1)
    const { code, stdout, stderr } = await machine.shell(`SKERRY_TOKEN=${token} skerry changes show ${id}`)
    expect([code, stdout]).toEqual([0, expect.stringContaining('note: why')])
    expect(stdout).not.toContain('********')
    expect(stderr).toContain('the values are not shown')
  })
})

test('a change of a revoked token is named when the token is revoked, listed, shown and approved', async () => {
  const { token } = JSON.parse(await ok('skerry token create thief --json'))
  const id = JSON.parse(await ok(`echo -n planted | SKERRY_TOKEN=${token} skerry secrets set OF_A_THIEF --json`))
    .changeRequest.id
  expect(await ok(`skerry changes show ${id}`)).not.toContain('proposer:')
  const revoked = await machine.shell('skerry token revoke thief --yes')
  expect(revoked.stderr).toContain(
    `1 change that thief proposed can still be approved; reject it with \`skerry changes reject ${id}\``,
  )
  expect(await ok('skerry changes ls')).toMatch(new RegExp(`^${id} .* thief \\(revoked\\) `, 'm'))
  expect(await ok(`skerry changes show ${id}`)).toMatch(/^proposer: revoked, \d{4}-/m)
  expect((await machine.shell(`skerry changes approve ${id} --yes`)).stderr).toMatch(
    `the proposer of ${id} was revoked, `,
  )
  await ok(`skerry changes withdraw ${id}`)
})

describe('a file proposed as one change', () => {
  test('is shown and decided as a whole, by the id of its group or of any change in it', async () => {
    await machine.write('partner.env', 'PARTNER_ID=one\nPARTNER_KEY=two\n')
    await approve(await propose('skerry secrets set PARTNER_OLD --random 8'))
    const tried = await ok('skerry changes propose partner.env --delete PARTNER_OLD --dry-run --json')
    expect(JSON.parse(tried)).toEqual({
      environment: { id: envId, label: 'shop/development' },
      new: ['PARTNER_ID', 'PARTNER_KEY'],
      changed: [],
      unchanged: [],
      deleted: ['PARTNER_OLD'],
      groupId: null,
      changeRequests: [],
    })
    expect(await ok('skerry changes ls')).not.toContain('PARTNER_ID')
    const proposed = await ok("skerry changes propose partner.env --delete PARTNER_OLD --note 'new partner' --json")
    const { groupId, changeRequests } = JSON.parse(proposed)
    expect(changeRequests).toHaveLength(3)
    expect(await ok('skerry changes ls')).toMatch(
      new RegExp(`^${groupId} +open +delete, put +PARTNER_ID, PARTNER_KEY, PARTNER_OLD `, 'm'),
    )
    for (const id of [groupId, changeRequests[0].id]) {
      const look = await ok(`skerry changes show ${id} --reveal`)
      for (const text of ['3 changes in shop/development', 'note: new partner', '+ one', '+ two', 'delete PARTNER_OLD'])
        expect(look).toContain(text)
    }
    expect((await shown(groupId)).together).toHaveLength(3)
    await approve(changeRequests[1].id)
    expect(await ok('skerry secrets ls')).toMatch(/PARTNER_ID.*PARTNER_KEY/s)
    expect(await ok('skerry secrets ls')).not.toContain('PARTNER_OLD')
    expect((await machine.shell('skerry changes propose partner.env')).stderr).toContain(
      'nothing differs, so nothing was proposed',
    )
  })

  test('is also what an import creates, and can be withdrawn by the id of its group', async () => {
    await machine.write('more.env', 'MORE_A=1\nMORE_B=2\n')
    const { queued } = JSON.parse(await ok('skerry secrets import more.env --json'))
    const groups = new Set(queued.map((one: { groupId: string }) => one.groupId))
    expect([queued.length, groups.size]).toEqual([2, 1])
    await ok(`skerry changes withdraw ${[...groups][0]}`)
    expect((await shown(queued[0].changeRequestId)).changeRequest.status).toBe('withdrawn')
  })

  test.each([
    ['skerry changes propose', 2, 'there is nothing to propose'],
    ['skerry changes propose partner.env --delete PARTNER_ID', 2, '--delete and the file both name PARTNER_ID'],
    ['skerry changes propose --delete NONE', 4, 'there is no secret NONE'],
    ['skerry changes show cgr_0000000000000000000000', 4, 'there is no such change request'],
    ['skerry env create open && skerry changes propose partner.env --env open', 5, 'shop/open is not protected'],
  ])('%s is refused', async (command, code, text) => {
    expect(await machine.shell(command)).toMatchObject({ code, stderr: expect.stringContaining(text) })
  })
})

test('a rotation that changes a protected environment without approval is asked about', async () => {
  await ok('skerry env create rotated && echo -n x | skerry secrets set KEY --env rotated')
  await ok('skerry env protect rotated')
  const told = 'warning: shop/rotated is protected; this rotation changes it without approval\n'
  const create = 'skerry rotation create KEY --env rotated --every 30d'
  expect(await machine.shell(create)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(`^${told}[^]* to rotate KEY there without approval\\. Run again with`),
  })
  expect(await machine.shell(`${create} --yes`)).toMatchObject({ code: 0, stderr: expect.stringContaining(told) })
  const { changeRequest } = JSON.parse(await ok('echo -n y | skerry secrets set KEY --env rotated --json'))
  const ended = (cause: string) =>
    `warning: ${changeRequest.id} is open and would change KEY. ${cause} makes it stale: nobody can approve it afterwards\n`
  expect(await machine.shell('skerry rotation run KEY')).toMatchObject({
    code: 2,
    stderr: `${told}${ended('This command')}skerry: This replaces KEY in shop/rotated now without approval. Run again with \`--yes\` to do it.\n`,
  })
  expect((await machine.shell(create)).stderr).toContain(ended('The next rotation'))
  expect((await machine.shell(`${create} --now`)).stderr).toContain(ended('This command'))
})

describe('two people, each signed in at a terminal', () => {
  let member: Machine
  let admin: Machine

  beforeAll(async () => {
    member = await joined('member')
    admin = await joined('admin')
  })
  afterAll(async () => {
    for (const one of [member, admin]) {
      await one?.skerry(['keys', 'lock'])
      await one?.remove()
    }
  })

  /** The machine of an invited person who has signed in, made keys and been granted the key of the environment. */
  async function joined(role: 'member' | 'admin'): Promise<Machine> {
    const email = `${role}@example.com`
    await ok(`skerry invite create ${email} --role ${role}`)
    const own = await newMachine(server.url)
    own.env.SKERRY_KEYRING = 'off'
    own.env.SKERRY_PASSPHRASE_FILE = `${own.home}/passphrase`
    await own.write('../passphrase', `${passphrase}\n`)
    await own.write('skerry.json', await machine.read('skerry.json'))
    await signIn(server, own, email, 'approve')
    await okOn(own, 'skerry keys init && skerry invite accept')
    await ok(`skerry grant ${email} --reader ${email}`)
    return own
  }

  test('propose and approve a value, which is applied byte for byte as it was proposed', async () => {
    const proposed = `echo -n agreed | skerry secrets set AGREED --note 'as we said' --json`
    const { id, proposedByType } = JSON.parse(await okOn(member, proposed)).changeRequest
    expect(proposedByType).toBe('user')
    const { body } = await send(changes.get, { as: proposer, params: { orgId, changeRequestId: id } })
    const { ciphertext } = body.changeRequest

    const own = await member.skerry(['changes', 'approve', id, '--yes'])
    expect([own.code, own.stderr]).toEqual([3, expect.stringContaining('admin')])

    const seen = await okOn(admin, `skerry changes show ${id} --reveal`)
    expect(seen).toContain('as we said')
    expect(seen).toContain('agreed')
    expect(await okOn(admin, `skerry changes approve ${id} --json --yes`)).toContain('"applied"')

    const { body: stored } = await send(secrets.list, { as: proposer, params: { orgId, envId } })
    expect(ciphertext).toMatch(/^sc1\./)
    expect(stored.secrets.find(({ name }) => name === 'AGREED')?.ciphertext).toBe(ciphertext)
    for (const one of [member, admin]) expect(await okOn(one, 'skerry run -- printenv AGREED')).toBe('agreed\n')
  })

  test('need a second admin where two approvals are required, and the second approval applies the value', async () => {
    await ok('skerry env protect development --approvals 2')
    expect(await ok('skerry env show development')).toContain('protection: changes need 2 approvals')
    const proposed = 'echo -n both | skerry secrets set BY_TWO --json'
    const { id } = JSON.parse(await okOn(member, proposed)).changeRequest
    // A second approval by the same admin does not count.
    for (const _ of [1, 2]) {
      const { code, stderr } = await admin.shell(`skerry changes approve ${id} --yes --note fine`)
      expect([code, stderr]).toEqual([0, expect.stringContaining('1 of 2 approvals and still waits')])
    }
    expect((await shown(id)).changeRequest.status).toBe('open')
    expect((await machine.shell('skerry secrets get BY_TWO')).code).toBe(4)
    expect((await approve(id)).body.status).toBe('applied')
    expect(await okOn(member, 'skerry run -- printenv BY_TWO')).toBe('both\n')
    await ok('skerry env protect development --approvals 1')
  })
  test('are told the names that change, and whether they can see the values, before a terminal approves', async () => {
    const propose = async (name: string): Promise<string> =>
      JSON.parse(await okOn(member, `echo -n x | skerry secrets set ${name} --json`)).changeRequest.id
    const seen = await propose('SEEN')
    const declined = await admin.terminal(`skerry changes approve ${seen}`, [['Continue?', 'n']])
    expect([declined.code, declined.stdout]).toEqual([1, expect.stringContaining(`${seen} was not approved`)])
    expect((await shown(seen)).changeRequest.status).toBe('open')
    const approved = await admin.terminal(`skerry changes approve ${seen}`, [['write SEEN in shop/development', 'y']])
    expect([approved.code, approved.stdout]).toEqual([0, expect.not.stringContaining('you cannot see')])

    const unseen = await propose('UNSEEN_BY_ADMIN')
    await ok('skerry grant revoke admin@example.com --env development --yes')
    const asked = await admin.terminal(`skerry changes approve ${unseen}`, [[`You approve ${unseen}`, 'n']])
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining(`you cannot see the values of ${unseen}`)])
    const script = await admin.shell(`skerry changes approve ${unseen}`)
    expect([script.code, script.stderr]).toEqual([
      2,
      expect.stringContaining('You cannot see the values. Run again with'),
    ])
    expect((await shown(unseen)).changeRequest.status).toBe('open')
    const { code, stderr } = await admin.shell(`skerry changes approve ${unseen} --yes`)
    expect([code, stderr]).toEqual([0, expect.stringContaining(`you cannot see the values of ${unseen}`)])
  })
})
