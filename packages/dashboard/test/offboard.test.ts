import { afterAll, beforeAll, expect, test } from 'vitest'
import { newMachine } from '../../cli/test/machine.ts'
import { addSecret, create, createApp, dialogOf, grantKey, openApp, openEnvironment } from './apps-steps.ts'
import { axeProblems } from './org-steps.ts'
import { countPresses } from './presses.ts'
import { join, leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// A person leaves: the browser removes them and re-keys, and a terminal shows the same list and writes the report.

const grace = 'grace@example.com'
const walk = await openOwner()
const { world, owner, page } = walk
const machine = await newMachine(world.url.replace('127.0.0.1', 'localhost'))
afterAll(() => machine.remove())
const total = await countPresses(page)

const inTerminal = async (command: string) => {
  machine.env.SKERRY_TOKEN = owner.bearer().replace('Bearer ', '')
  machine.env.SKERRY_KEYRING = 'off'
  const { code, stdout, stderr } = await machine.shell(command)
  expect(code, stderr).toBe(0)
  return stdout
}
const rowsInTerminal = async (): Promise<{ kind: string; state: string }[]> =>
  JSON.parse(await inTerminal(`skerry members offboarding ${grace} --json`)).rows

beforeAll(async () => {
  await createApp(page, 'Web shop')
  await create(page, 'New environment', 'Production')
  await addSecret(page, 'API_KEY', 'planted-api-key', ['Production'])
  await join(walk, grace)
  await openApp(page, 'Web shop')
  await page.reload()
  await steps.unlockWithPassphrase(page)
  await openEnvironment(page, 'Production')
  await grantKey(page, grace)
})

test('an offboarding starts with 2 presses after the menu is open, and replaces the keys in the tab', async () => {
  await steps.goTo(page, 'Members')
  await page.getByRole('button', { name: `Actions for ${grace}` }).click()
  const before = total()
  await page.getByRole('menuitem', { name: 'Offboard…' }).click()
  await dialogOf(page).getByText('1 value in 1 environment').waitFor()
  expect(await dialogOf(page).getByRole('button', { name: 'Start' }).isDisabled()).toBe(true)
  await dialogOf(page).getByLabel(`Type ${grace} to confirm`).fill(grace)
  await dialogOf(page).getByRole('button', { name: 'Start' }).click()
  await page.waitForURL('**/offboardings/ofb_*')
  await page.getByText('re-keyed', { exact: true }).waitFor()
  await page.getByText('1 of 2 done').waitFor()
  expect(total() - before).toBe(2)
  expect(await axeProblems(page)).toEqual([])
})

test('the list is the same after a reload and in a terminal', async () => {
  await page.reload()
  await page.getByText('1 of 2 done').waitFor()
  expect((await rowsInTerminal()).map(({ kind, state }) => [kind, state])).toEqual([
    ['rekey', 'done'],
    ['rotate_value', 'waiting'],
  ])
})

test('a value that was replaced at its source is ticked, and the terminal writes that into the report', async () => {
  await page.getByRole('button', { name: /API_KEY is replaced/ }).click()
  await page.getByText('2 of 2 done').waitFor()
  await inTerminal(`skerry members offboarding ${grace} --report grace.md`)
  expect(await machine.read('grace.md')).toContain('Done: 2 of 2 rows.')
})

test('the members name the running offboarding until it is finished', async () => {
  await steps.goTo(page, 'Members')
  await page.getByText('2 of 2 done').waitFor()
  expect(await page.getByRole('row', { name: grace }).count()).toBe(0)
  await page.getByRole('link', { name: grace }).click()
  await page.getByRole('button', { name: 'Finish…' }).click()
  await dialogOf(page).getByRole('button', { name: 'Finish' }).click()
  await page.getByText('Finished').waitFor()
  expect(await inTerminal('skerry members offboarding')).toMatch(/2 of 2/)
})

test('no page sent or stored a value, or the passphrase', async () => {
  expect(await leaks(world, { owner })).toEqual([])
  expect(owner.complaints).toEqual([])
})
