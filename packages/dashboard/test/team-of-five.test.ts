import { afterAll, describe, expect, test } from 'vitest'
import { type Machine, newMachine } from '../../cli/test/machine.ts'
import {
  acceptReaders,
  addSecret,
  create,
  createApp,
  dialogOf,
  edit,
  expectShown,
  openApp,
  openEnvironment,
  value,
} from './apps-steps.ts'
import type { Visitor } from './browser.ts'
import { openChange, protect } from './changes-steps.ts'
import { choose } from './org-steps.ts'
import { join, leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// A team of five with three applications: it is set up, works for a day, and loses a member. Ada, Grace and Alan use
// browsers, Edsger and Barbara terminals.

const emails = {
  grace: 'grace@example.com',
  alan: 'alan@example.com',
  edsger: 'edsger@example.com',
  barbara: 'barbara@example.com',
}
const applications = ['Web shop', 'Billing', 'Search']

const scene = await openOwner()
const { world, owner: ada } = scene
const people: Record<string, Visitor> = { ada }
const machines: Machine[] = []
afterAll(() => Promise.all(machines.map((machine) => machine.remove())))

/** The terminal of a person, with the passphrase in a file. It fails unless the command ends with `code`. */
async function terminalOf(visitor: Visitor) {
  const machine = await newMachine(world.url.replace('127.0.0.1', 'localhost'))
  machines.push(machine)
  await machine.write('../passphrase', `${steps.person.passphrase}\n`)
  Object.assign(machine.env, { SKERRY_KEYRING: 'off', SKERRY_PASSPHRASE_FILE: `${machine.home}/passphrase` })
  return async (command: string, code = 0) => {
    machine.env.SKERRY_TOKEN = visitor.bearer().replace('Bearer ', '')
    const ended = await machine.shell(command)
    expect([ended.code, ended.stderr], command).toEqual([code, expect.anything()])
    return ended
  }
}
type Terminal = Awaited<ReturnType<typeof terminalOf>>
let [edsger, barbara] = [] as unknown as [Terminal, Terminal]

describe('the team is set up', () => {
  test('Ada makes three applications with a development and a production environment', async () => {
    const { page } = ada
    for (const application of applications) {
      await createApp(page, application)
      for (const environment of ['Development', 'Production']) await create(page, 'New environment', environment)
      await addSecret(page, 'DATABASE_URL', `planted-${application}`, ['Development', 'Production'])
    }
  })

  test('four people join and make their keys', async () => {
    for (const [name, email] of Object.entries(emails)) people[name] = await join(scene, email)
    edsger = await terminalOf(people.edsger!)
    barbara = await terminalOf(people.barbara!)
    await steps.goTo(ada.page, 'Members')
    await choose(ada.page, emails.grace, 'Change the role…')
    await dialogOf(ada.page).getByRole('radio', { name: 'admin' }).check()
    await dialogOf(ada.page).getByRole('button', { name: 'Change the role' }).click()
    await dialogOf(ada.page).waitFor({ state: 'detached' })
  })

  test('a team gives its people the three development environments', async () => {
    const all = ['grace', 'alan', 'edsger', 'barbara'] as const
    const terminal = await terminalOf(ada)
    await terminal('skerry teams create Everyone')
    for (const name of all) await terminal(`skerry teams include everyone ${emails[name]}`)
    const places = 'web-shop/development billing/development search/development'
    await terminal(`skerry teams grant everyone ${places}`)
    const readers = all.map((name) => `--member ${emails[name]} --reader ${emails[name]}`).join(' ')
    await terminal(`skerry access complete ${places} ${readers} --yes`)
    // An admin who can also read production can grant it while the owner is away.
    for (const app of ['web-shop', 'billing', 'search'])
      await terminal(`skerry grant ${emails.grace} --app ${app} --env production`)
  })

  test('the production of the shop is protected', async () => {
    await openApp(ada.page, 'Web shop')
    await openEnvironment(ada.page, 'Production')
    await protect(ada.page, { approvals: 1 })
  })
})

describe('a day of work', () => {
  test('a value that Alan changes in a browser is what the program of Edsger gets', async () => {
    const { page } = people.alan!
    await openApp(page, 'Billing')
    await edit(page, 'DATABASE_URL', 'Development', 'planted-by-alan')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByLabel('Value of DATABASE_URL in Development').waitFor({ state: 'detached' })
    const { stdout } = await edsger('skerry run --app billing --env development -- printenv DATABASE_URL')
    expect(stdout).toBe('planted-by-alan\n')
  })

  test('a secret that Edsger stores in a terminal appears in the open page of Alan', async () => {
    const { page } = people.alan!
    await edsger('printf planted-new | skerry secrets set API_KEY --app billing --env development')
    await value(page, 'API_KEY', 'Development').waitFor()
    await expectShown(page, 'API_KEY', 'Development', 'planted-new')
  })

  test('Barbara asks for production for an hour, Grace compares words and grants it in a browser, and the program runs', async () => {
    await barbara('skerry run --app search --env production -- true', 3)
    await barbara("skerry access ask search/production --for 1h --reason 'the index is broken'")
    const { page } = people.grace!
    await steps.goTo(page, 'Requests')
    await page.getByRole('row', { name: 'barbara' }).getByText('1 hour').waitFor()
    await page.getByRole('button', { name: /^Compare words with barbara/ }).click()
    await dialogOf(page).getByRole('button', { name: 'They match, pass on 1 key' }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
    const { stdout } = await barbara('skerry run --app search --env production -- printenv DATABASE_URL')
    expect(stdout).toBe('planted-Search\n')
  })

  test('a change that a terminal proposes for the protected production is approved in a browser', async () => {
    const terminal = await terminalOf(ada)
    await terminal(
      "printf planted-2 | skerry secrets set DATABASE_URL --app web-shop --env production --note 'new host'",
    )
    const { page } = people.grace!
    await openChange(page, 'Change DATABASE_URL')
    await page.getByRole('button', { name: 'Reveal values' }).click()
    await page.getByText('planted-2').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('applied', { exact: true }).waitFor()
  })

  test('a pipeline reads with a token of its own', async () => {
    const { stdout } = await (await terminalOf(ada))('skerry token create ci --app web-shop --env production')
    const machine = await newMachine(world.url.replace('127.0.0.1', 'localhost'))
    machines.push(machine)
    machine.env.SKERRY_TOKEN = stdout.trim()
    const ended = await machine.shell('skerry run -- printenv DATABASE_URL')
    expect(ended).toMatchObject({ code: 0, stdout: 'planted-2\n' })
  })
})

describe('Alan leaves', () => {
  test('Grace starts the offboarding in her browser, and Ada sees it on the page of members', async () => {
    const { page } = people.grace!
    await steps.goTo(page, 'Members')
    await choose(page, emails.alan, 'Offboard…')
    await dialogOf(page).getByText('3 environments').waitFor()
    await dialogOf(page).getByLabel(`Type ${emails.alan} to confirm`).fill(emails.alan)
    await dialogOf(page).getByRole('button', { name: 'Start' }).click()
    await page.waitForURL('**/offboardings/ofb_*')
    // Ada gave the keys, so this browser does not know these readers yet. Each environment has its own.
    for (const _ of applications) await acceptReaders(page)
    await expect.poll(() => page.getByText('re-keyed', { exact: true }).count()).toBe(3)
    await steps.goTo(ada.page, 'Members')
    await ada.page.getByText(/\d+ of \d+ done/).waitFor()
  })

  test('his page and his terminal are refused at once', async () => {
    const terminal = await terminalOf(people.alan!)
    await terminal('skerry run --app billing --env development -- true', 4)
  })

  test('the others go on working, once they have accepted the new key', async () => {
    const { stderr } = await edsger('skerry run --app billing --env development -- true', 3)
    expect(stderr).toContain('the key of billing/development was replaced')
    await edsger('skerry env trust billing/development --yes')
    const { stdout } = await edsger('skerry run --app billing --env development -- printenv DATABASE_URL')
    expect(stdout).toBe('planted-by-alan\n')
    await edsger('printf planted-3 | skerry secrets set API_KEY --app billing --env development')
    await openApp(ada.page, 'Billing')
    await expectShown(ada.page, 'API_KEY', 'Development', 'planted-3')
  })

  test('Ada replaces the values that he knew, and the report says what was done', async () => {
    const terminal = await terminalOf(ada)
    const { stdout } = await terminal(`skerry members offboarding ${emails.alan} --json`)
    expect(JSON.parse(stdout).rows.filter(({ kind }: { kind: string }) => kind === 'rekey')).toHaveLength(3)
    await terminal(`skerry members offboarding ${emails.alan} --report alan.md`)
  })
})

test('no page sent or stored a value, or the passphrase', async () => {
  expect(await leaks(world, people)).toEqual([])
  expect(ada.complaints).toEqual([])
})
