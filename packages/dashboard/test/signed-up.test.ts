import { afterAll, describe, expect, test } from 'vitest'
import { type Machine, newMachine } from '../../cli/test/machine.ts'
import { openScene } from './scene.ts'
import * as steps from './steps.ts'

// A person signs up at the command line, and goes on in the browser by the link that `skerry signup` prints.

const { world, arrive } = await openScene()
const visitor = await arrive()
const { page } = visitor
const machine: Machine = await newMachine(world.url)
// The command runs on the machine of the server.
machine.env.SKERRY_DATA_DIR = world.server.context.config.dataDir
afterAll(() => machine.remove())

describe('a new server', () => {
  test('names the command on its first page', async () => {
    await page.goto('/')
    await page.getByText(`skerry signup "Acme" --email you@example.com --url ${new URL(page.url()).origin}`).waitFor()
  })

  test('is entered by the link of signup, as the owner of that organization', async () => {
    const { code, stdout, stderr } = await machine.shell(
      `skerry signup "Acme & Co" --email ${steps.person.email} && skerry init`,
    )
    expect([code, stderr]).toEqual([0, expect.stringContaining('share the keys with `skerry grant ada@example.com')])
    await page.goto(stdout.trim())
    await page.getByRole('heading', { name: 'You are invited to Acme & Co' }).waitFor()
    await page.getByText('You or somebody else signed up Acme & Co with “skerry signup”.').waitFor()
    await page.getByText('You would be the owner of Acme & Co.').waitFor()
    await page.getByLabel('Your name').fill(steps.person.name)
    await page.getByRole('button', { name: 'Join Acme & Co' }).click()
    await page.waitForURL('**/orgs/acme-co/welcome')
    await page.getByText('skerry grant ada@example.com --all --profile acme-co').waitFor()
    await steps.goTo(page, 'Members')
    await page.getByRole('row', { name: steps.person.email }).getByText('owner').waitFor()
  })

  test('says in an application that a keyring comes first, and then the command that shares the key', async () => {
    const openApp = async () => {
      await steps.goTo(page, 'Applications')
      await page.getByRole('link', { name: 'shop', exact: true }).click()
    }
    await openApp()
    await page.getByText('You have no keyring yet').waitFor()
    await page.getByRole('link', { name: 'Make your keyring', exact: true }).click()
    await steps.makeKeyring(page)
    await page.goto('/orgs/acme-co/apps/shop')
    await page.getByText('skerry grant ada@example.com --app shop --env development --org acme-co').waitFor()
  })

  test('caused no console warnings and no Content-Security-Policy violations', () => {
    expect(visitor.complaints).toEqual([])
  })
})
