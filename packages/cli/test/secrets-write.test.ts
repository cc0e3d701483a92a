import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Json, type Liar, openLiar } from './hostile/liar.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// Tests copies, dry runs and --fail-if-queued. The liar shows what a server answers, and can hide a protection.

let server: Server
let liar: Liar
let machine: Machine

beforeAll(async () => {
  server = await openServer()
  liar = await openLiar(server.url)
  machine = await signedUp(liar.url, 'Write Org')
  await machine.write(
    'source.json',
    JSON.stringify({ KEY: 'one\ntwo', URL: 'x/${HOST}/${GONE}', TEXT: '$${HOST}', HOST: 'h' }),
  )
  await ok('skerry secrets import source.json')
  for (const slug of ['target', 'guarded', 'empty']) await ok(`skerry env create ${slug}`)
  await ok(
    'printf before | skerry secrets set A --env guarded && printf now | skerry secrets set A --env guarded && skerry env protect guarded --yes',
  )
})
afterAll(async () => {
  await machine?.remove()
  await liar?.close()
  await server?.close()
})

async function ok(script: string): Promise<string> {
  const { code, stdout, stderr } = await machine.shell(script)
  expect([code, stderr], script).toEqual([0, expect.not.stringContaining('skerry: ')])
  return stdout
}

const json = async (script: string) => JSON.parse(await ok(`${script} --json`))
const stored = async (place: string) => JSON.parse(await ok(`skerry secrets export --stored --format json ${place}`))
const proposed = async () => (await json('skerry changes ls')).changeRequests.length

/** Runs a command that must send no request which changes something. */
async function writesNothing(script: string) {
  liar.lie(/^$/, (body) => body)
  const ended = await machine.shell(script)
  expect(liar.sent(), script).toEqual([])
  return ended
}

describe('secrets copy', () => {
  it('copies stored texts byte for byte, so that references stay references', async () => {
    const { stderr } = await machine.shell('skerry secrets copy KEY URL TEXT --to target')
    for (const text of [
      'shop/target: 3 new, 0 changed',
      '  + URL',
      'refer to HOST, GONE, which shop/target does not have',
    ])
      expect(stderr).toContain(text)
    expect(await stored('--env target')).toEqual({ KEY: 'one\ntwo', URL: 'x/${HOST}/${GONE}', TEXT: '$${HOST}' })
  })

  it('takes all names, places of every kind, and the alias cp', async () => {
    await ok('skerry branch create pr-7 && skerry group create shared && skerry env create development --group shared')
    await ok('skerry app create web && skerry env create production --app web')
    const all = { ...(await stored('')) }
    await ok('skerry secrets cp --all --to shop/development@pr-7')
    await ok('skerry secrets cp KEY --to web/production')
    await ok('skerry secrets cp --all --branch pr-7 --to shared:development')
    await ok('skerry secrets cp KEY --group shared --env development --to shop/empty')
    expect(await stored('--branch pr-7')).toEqual(all)
    expect(await stored('--group shared --env development')).toEqual(all)
    expect(await stored('--app web --env production')).toEqual({ KEY: 'one\ntwo' })
    expect(await stored('--env empty')).toEqual({ KEY: 'one\ntwo' })
  })

  it('replaces nothing unasked, and keeps or overwrites as it is told', async () => {
    await ok('printf other | skerry secrets set KEY --env target; skerry secrets rm TEXT --env target --yes')
    const asked = await machine.shell('skerry secrets copy KEY TEXT --to target')
    expect([asked.code, asked.stderr]).toEqual([5, expect.stringContaining('1 value differs')])
    await ok('skerry secrets copy KEY TEXT --to target --keep')
    expect(await stored('--env target')).toMatchObject({ KEY: 'other', TEXT: '$${HOST}' })
    expect(await json('skerry secrets copy KEY TEXT --to target --overwrite')).toMatchObject({
      changed: ['KEY'],
      unchanged: ['TEXT'],
      written: [{ name: 'KEY', version: 3 }],
    })
  })

  it('refuses a cycle of references in the target', async () => {
    await ok(
      `printf '\${LOOP_B}' | skerry secrets set LOOP_A; printf '\${LOOP_A}' | skerry secrets set LOOP_B --env target`,
    )
    const { code, stderr } = await machine.shell('skerry secrets copy LOOP_A --to target')
    expect([code, stderr]).toEqual([2, expect.stringContaining('cycle of references')])
    await ok('skerry secrets rm LOOP_A --yes; skerry secrets rm LOOP_B --env target --yes')
  })

  it('proposes the copy in a protected environment, as one change with the note', async () => {
    const { queued, written } = await json('skerry secrets copy KEY HOST --to guarded --note moving')
    expect([written, queued.length, new Set(queued.map((one: Json) => one.groupId)).size]).toEqual([[], 2, 1])
    expect(await ok(`skerry changes show ${queued[0].groupId}`)).toContain('note: moving')
    await ok(`skerry changes withdraw ${queued[0].groupId}`)
  })

  it.each([
    ['KEY', 2, "required option '--to <env>'"],
    ['--to target', 2, 'no secret is named'],
    ['KEY --all --to target', 2, '--all takes no names'],
    ['KEY --to target --overwrite --keep', 2, '--overwrite and --keep cannot be used together'],
    ['KEY --to development', 2, 'from which the secrets are copied'],
    ['KEY --to a/b/c', 2, "'a/b/c' is not the name of an environment"],
    ['KEY --to nowhere', 4, 'there is no environment shop/nowhere'],
    ['KEY NONE --to target', 4, 'does not store NONE; nothing was copied'],
    ['KEY --group shared --env development --to production', 2, 'names no application and no group'],
  ])('%s is refused, and nothing is written', async (args, code, message) => {
    expect(await writesNothing(`skerry secrets copy ${args}`)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    })
  })
})

describe('--dry-run writes nothing', () => {
  it.each([
    ['printf x | skerry secrets set KEY', 'this would write KEY in shop/development, version 2'],
    ['printf x | skerry secrets set NEW', 'this would write NEW in shop/development, version 1'],
    ['printf x | skerry secrets set A --env guarded', 'this would propose A in shop/guarded, version 3'],
    ['skerry secrets rm KEY HOST', 'this would delete KEY, HOST from shop/development with all versions'],
    ['skerry secrets rm A --env guarded', 'this would propose to delete A from shop/guarded'],
    ['skerry secrets copy --all --overwrite --to target', 'dry run: nothing was written'],
    ['skerry secrets copy KEY --to guarded', 'shop/guarded is protected, so the changes would wait for approval'],
    ['skerry secrets import source.json --env guarded', 'shop/guarded is protected, so the changes would wait'],
  ])('%s', async (command, message) => {
    const { code, stderr } = await writesNothing(`${command} --dry-run`)
    expect([code, stderr]).toEqual([0, expect.stringContaining(message)])
  })

  it('and prints what would happen as JSON', async () => {
    expect(await json('printf x | skerry secrets set A --env guarded --dry-run')).toEqual({
      dryRun: true,
      name: 'A',
      version: 3,
      needsApproval: true,
      environmentId: expect.stringMatching(/^env_/),
    })
    expect(await json('skerry secrets rm KEY --dry-run')).toMatchObject({
      dryRun: true,
      names: ['KEY'],
      needsApproval: false,
    })
  })

  it.each([
    ['printf x | skerry secrets set KEY --expected-version 7', 5, 'KEY in shop/development is at version 1, not 7'],
    ['printf x | skerry secrets set KEY --expected-version 0', 5, 'is at version 1, not 0'],
    ['printf x | skerry secrets set KEY --env nowhere', 4, 'there is no environment shop/nowhere'],
    [`printf '\${KEY}' | skerry secrets set KEY`, 2, 'KEY would refer to itself'],
    ['skerry secrets set KEY < /dev/null', 2, 'the value of KEY is empty'],
    ['skerry secrets rm NONE', 4, 'there is no secret NONE in shop/development'],
    ['skerry secrets rm KEY --expected-version 7', 5, 'is at version 1, not 7'],
    ['printf x | skerry secrets set A --env guarded --fail-if-queued', 5, 'shop/guarded is protected'],
    ['skerry secrets rm A --env guarded --fail-if-queued', 5, 'shop/guarded is protected'],
    ['skerry secrets copy KEY --to guarded --fail-if-queued', 5, 'shop/guarded is protected'],
  ])('and checks: %s', async (command, code, message) => {
    expect(await writesNothing(`${command} --dry-run`)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    })
  })

  it('and checks the key of the environment', async () => {
    const token = (await ok('skerry token create keyless --admin 2>/dev/null')).trim().split('\n').at(-1)
    const { code, stderr } = await writesNothing(`printf x | SKERRY_TOKEN=${token} skerry secrets set NEW --dry-run`)
    expect([code, stderr]).toEqual([3, expect.stringContaining('does not have the key')])
  })

  it('and with --purge says what the command does with deleted secrets of the name', async () => {
    await ok('printf 1 | skerry secrets set OLD && skerry secrets rm OLD --yes')
    const { code, stderr } = await writesNothing('skerry secrets rm OLD --purge --dry-run')
    expect([code, stderr]).toEqual([
      0,
      'dry run: nothing was deleted; this would delete OLD from shop/development for good, with all versions\n',
    ])
    expect(await writesNothing('skerry secrets rm OLD --dry-run')).toMatchObject({ code: 4 })
    liar.refuse(/\/deleted-secrets\/sec_/, 'not this one')
    await ok('printf 1 | skerry secrets set NEW')
    const failed = await machine.shell('skerry secrets rm NEW OLD --purge --yes')
    liar.repent()
    expect([failed.code, failed.stderr]).toEqual([
      3,
      expect.stringContaining('the deleted OLD was not deleted for good (not this one); deleted before it: NEW'),
    ])
    await ok('skerry secrets rm OLD --purge --yes')
  })

  it('and checks the quota of the plan, for new secrets alone', async () => {
    liar.lie(/\/billing$/, (body: Json) => ({
      ...body,
      enforced: true,
      usage: body.usage.map((one: Json) => (one.key === 'secrets' ? { ...one, quantity: 1000, included: 1000 } : one)),
    }))
    const full = await machine.shell('printf x | skerry secrets set NEW --dry-run')
    expect([full.code, full.stderr]).toEqual([
      3,
      expect.stringContaining('the plan includes 1000 secrets, and 1000 are used; this would add 1'),
    ])
    await ok('printf x | skerry secrets set KEY --dry-run')
    liar.repent()
  })
})

it('a change that somebody closes meanwhile does not stop the decision on the others', async () => {
  const propose = async (name: string) =>
    (await json(`printf 1 | skerry secrets set ${name} --env guarded`)).changeRequest.id as string
  const [closed, open] = [await propose('CLOSED'), await propose('OPEN')]
  await ok(`skerry changes withdraw ${closed}`)
  liar.lie(new RegExp(`/change-requests/${closed}$`), (body: Json) => ({
    ...body,
    changeRequest: { ...body.changeRequest, status: 'open' },
  }))
  const { code, stderr } = await machine.shell(`skerry changes withdraw ${closed} ${open}`)
  liar.repent()
  expect([code, stderr]).toEqual([5, expect.stringContaining(`withdrew ${open}`)])
  expect(stderr).toContain(`${closed} (CLOSED): `)
})

describe('--fail-if-queued', () => {
  const commands = [
    'printf x | skerry secrets set A',
    'skerry secrets generate B',
    'skerry secrets rm A --yes',
    'skerry secrets restore A 1',
    'printf A=2 | skerry secrets import - --overwrite',
    'skerry secrets copy KEY --env development --to guarded',
  ].map((command) => (command.includes('copy') ? command : `${command} --env guarded`))

  it.each(commands)('proposes nothing in a protected environment, and exits with 5: %s', async (command) => {
    const { code, stderr } = await writesNothing(`${command} --fail-if-queued`)
    expect([code, stderr]).toEqual([5, expect.stringContaining('shop/guarded is protected, so the change would wait')])
    expect(stderr).toContain('leave out --fail-if-queued')
  })

  it('writes where the environment is not protected', async () => {
    await ok('printf x | skerry secrets set FREE --fail-if-queued && skerry secrets rm FREE --yes --fail-if-queued')
    await ok('skerry secrets generate FREE --fail-if-queued')
    await ok('printf FREE=2 | skerry secrets import - --overwrite --fail-if-queued')
    expect(await stored('')).toMatchObject({ FREE: '2' })
  })

  it.each(commands)('names the change if the environment became protected after the check: %s', async (command) => {
    const before = await proposed()
    liar.lie(/\/protection$/, (body: Json) => ({ ...body, protection: null }))
    const { code, stderr } = await machine.shell(`${command} --fail-if-queued`)
    liar.repent()
    const [, id = ''] = /waits for approval as (\w+)/.exec(stderr) ?? []
    expect([code, id]).toEqual([5, expect.stringMatching(/^chg_/)])
    expect(stderr).toContain(`skerry changes withdraw ${id}`)
    expect(await proposed()).toBe(before + 1)
  })
})

it('a re-key names every open change, also those that the server answers on a later page', async () => {
  const { changeRequest } = await json('printf 1 | skerry secrets set WAITS --env guarded')
  await ok('skerry env unprotect guarded --yes')
  const nextCursor = Buffer.from(`2100-01-01T00:00:00.000Z ${changeRequest.id}`).toString('base64url')
  liar.lie(/\/change-requests\?(?!.*cursor=)/, () => ({ changeRequests: [], nextCursor }))
  const { code, stderr } = await machine.shell('skerry env rekey guarded --yes')
  liar.repent()
  expect([code, stderr]).toEqual([0, expect.stringContaining(`propose them again: ${changeRequest.id}`)])
})
