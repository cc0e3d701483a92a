import type { Locator, Page } from 'playwright-core'
import type { Visitor } from './browser.ts'
import { goTo, person } from './journey.ts'

/** What a person does with applications and secrets, in the words of the pages. */

export const dialogOf = (page: Page): Locator => page.getByRole('dialog')

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
  await page.getByRole('button', { name: 'Add secret' }).click()
  const dialog = dialogOf(page)
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByLabel('Value').fill(value)
  for (const box of await dialog.getByRole('checkbox').all()) await box.setChecked(false)
  for (const environment of environments) {
    const box = dialog.getByRole('checkbox', { name: environment })
    if (await box.count()) await box.check()
  }
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
}

/** The button that shows or hides a value. */
export const value = (page: Page, name: string, environment: string): Locator =>
  page.getByRole('button', { name: new RegExp(`^(Reveal|Hide) ${name} in ${environment}$`) })

export async function edit(page: Page, name: string, environment: string, text: string): Promise<void> {
  await pickTool(page, name, new RegExp(`^(Edit|Override) ${name} in ${environment}$`))
  await page.getByLabel(`Value of ${name} in ${environment}`).fill(text)
}

export const save = (page: Page): Promise<void> => page.getByRole('button', { name: 'Save', exact: true }).click()

export async function openColumnMenu(page: Page, environment: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `What can be done with ${environment}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

export async function openEnvironment(page: Page, environment: string): Promise<void> {
  await openColumnMenu(page, environment, 'Access and settings')
  await page.getByRole('heading', { name: environment, level: 1 }).waitFor()
}

export async function openApp(page: Page, name: string): Promise<void> {
  await goTo(page, 'Applications')
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

/** The Authorization header of the page's last request: another client of the same person. */
export function bearerOf(visitor: Visitor): () => string {
  let last = ''
  visitor.context.on('request', (request) => {
    last = request.headers().authorization ?? last
  })
  return () => last
}

/** From the pages about oneself to those of the organization. */
export async function openOrg(page: Page): Promise<void> {
  await page.getByRole('navigation').getByRole('button').first().click()
  await page.getByRole('menuitem', { name: person.org }).click()
  await page.getByRole('heading', { name: person.org, level: 1 }).waitFor()
}

/** A tool of a cell, which is there once its row is pointed at. */
export async function pickTool(page: Page, name: string, label: string | RegExp): Promise<void> {
  await page.locator('.matrix-name', { has: page.locator(`[title="${name}"]`) }).hover()
  await page.getByRole('button', { name: label }).click({ force: true })
}
