import { apps } from '@skerry/contract/apps/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import type { Locator, Page } from 'playwright-core'
import { vi } from 'vitest'
import type { World } from '../../server/test/world.ts'
import { goTo, openTab, person } from './steps.ts'

/** Steps that a person takes with applications and secrets. They use the texts of the pages. */

export const dialogOf = (page: Page): Locator => page.getByRole('dialog')

/** Accepts readers to whom another client gave the key. This browser asks before it gives them the next key. */
export const acceptReaders = (page: Page): Promise<void> =>
  page
    .getByRole('dialog', { name: 'Confirm new readers' })
    .getByRole('button', { name: /^Accept th/ })
    .click()

export async function create(page: Page, button: string, name: string): Promise<void> {
  await page.getByRole('button', { name: button }).first().click()
  await dialogOf(page).getByLabel('Name').fill(name)
  await dialogOf(page).getByRole('button', { name: 'Create' }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
}

export async function createApp(page: Page, name: string): Promise<void> {
  await goTo(page, 'Applications')
  await create(page, 'New application', name)
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

export async function addSecret(page: Page, name: string, value: string, environments: string[]): Promise<void> {
  // An environment cannot be chosen before it has loaded.
  await page.locator('.matrix[aria-busy="true"]').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Add secret' }).click()
  const dialog = dialogOf(page)
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByLabel('Value').fill(value)
  for (const box of await dialog.getByRole('checkbox').all()) await box.setChecked(false)
  for (const environment of environments)
    for (const box of await dialog.getByRole('checkbox', { name: environment }).all()) await box.check()
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
}

/** The button that reveals or hides a value. */
export const value = (page: Page, name: string, environment: string): Locator =>
  page.getByRole('button', { name: new RegExp(`^(Reveal|Hide) ${name} in ${environment}(:|$)`) })

/** Checks that a revealed value is `text`, and leaves it masked. */
export async function expectShown(page: Page, name: string, environment: string, text: string): Promise<void> {
  const button = value(page, name, environment)
  if ((await button.getAttribute('aria-pressed')) === 'false') await button.click()
  await page.locator('.matrix-shown', { hasText: text }).first().waitFor()
  await button.click()
}

export async function edit(page: Page, name: string, environment: string, text: string): Promise<void> {
  await pickTool(page, name, new RegExp(`^(Edit|Override) ${name} in ${environment}$`))
  await page.getByLabel(`Value of ${name} in ${environment}`).fill(text)
}

export const save = (page: Page): Promise<void> => page.getByRole('button', { name: 'Save', exact: true }).click()

export async function openColumnMenu(page: Page, environment: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${environment}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

export async function openEnvironment(page: Page, environment: string, tab?: string): Promise<void> {
  await openColumnMenu(page, environment, 'Access and settings')
  await page.getByRole('heading', { name: environment, level: 1 }).waitFor()
  if (tab !== undefined) await openTab(page, tab)
}

/** Adds a group on the tab Composition of an environment's page. */
export async function compose(page: Page, group: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a group' }).click()
  await dialogOf(page).getByLabel('Group').click()
  await page.getByRole('option', { name: group }).click()
  await dialogOf(page).getByRole('button', { name: 'Add', exact: true }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
}

/** Deletes a secret in its drawer. */
export async function deleteFromDrawer(page: Page, name: string): Promise<void> {
  await dialogOf(page).getByRole('button', { name: 'Delete…' }).click()
  await page
    .getByRole('dialog', { name: `Delete ${name} from` })
    .getByRole('button', { name: 'Delete', exact: true })
    .click()
  await dialogOf(page).first().waitFor({ state: 'detached' })
}

/** Grants an environment's key on its page, and confirms that the words were compared. */
export async function grantKey(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: 'Grant access' }).click()
  await dialogOf(page).getByLabel('To').click()
  await page.getByRole('option', { name: email }).click()
  await dialogOf(page).getByLabel('I compared these words').check()
  await dialogOf(page).getByRole('button', { name: 'Grant' }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
}

export async function openApp(page: Page, name: string): Promise<void> {
  const link = page.getByRole('link', { name, exact: true })
  // Repeated until a new application of another client appears, because the list is reloaded at most once a second.
  const look = () => goTo(page, 'Applications').then(() => link.isVisible())
  await vi.waitUntil(look, { interval: 300, timeout: 60_000 })
  await link.click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

/**
 * Returns the IDs of the organization, and of an application and its environments by slug. It uses another client of
 * the same person.
 */
export async function placeOf(world: World, as: string, slug: string) {
  const { body: own } = await world.call(me.get, { as })
  const orgId = own.orgs[0]?.id as string
  const { body: list } = await world.call(apps.list, { as, params: { orgId } })
  const appId = list.apps.find((app) => app.slug === slug)?.id as string
  const { body: app } = await world.call(apps.get, { as, params: { orgId, appId } })
  return { orgId, appId, envs: Object.fromEntries(app.environments.map((env) => [env.slug, env.id])) }
}

/** Goes from the account pages to those of the organization. A person without a key gets to the first steps before. */
export async function openOrg(page: Page): Promise<void> {
  await page.getByRole('navigation').getByRole('button').first().click()
  await page.getByRole('menuitem', { name: person.org }).click()
  await page.getByRole('heading', { name: /^(Applications|Welcome to .*)$/, level: 1 }).waitFor()
  await goTo(page, 'Applications')
}

/** Presses a tool of a cell. The tool appears when the pointer is over its row. */
export async function pickTool(page: Page, name: string, label: string | RegExp): Promise<void> {
  await page.locator('.matrix-name', { has: page.locator(`[title="${name}"]`) }).hover()
  await page.getByRole('button', { name: label }).click()
}
