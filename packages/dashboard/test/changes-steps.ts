import type { Locator, Page } from 'playwright-core'
import { dialogOf } from './apps-steps.ts'
import * as steps from './steps.ts'

/** Steps that people take with changes that wait for approval. They use the texts of the pages. */

export const row = (page: Page, name: string | RegExp): Locator => page.getByRole('row', { name })

/** The tag of a secret with an open change. */
export const queued = (page: Page, name: RegExp): Locator => row(page, name).getByText('queued', { exact: true })

/** Protects an environment, or changes its protection, from its page. Settings that are not given stay as they are. */
export async function protect(page: Page, settings: { approvals?: number; ownCounts?: boolean }): Promise<void> {
  await steps.openTab(page, 'Protection')
  await page.getByRole('button', { name: /^(Protect|Change)$/ }).click()
  const dialog = dialogOf(page)
  if (settings.approvals) await dialog.getByLabel('Approvals that a change needs').fill(`${settings.approvals}`)
  if (settings.ownCounts) await dialog.getByLabel('Admins may approve their own changes').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
}

export async function openChange(page: Page, name: string | RegExp): Promise<void> {
  await steps.goTo(page, 'Changes')
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

/** Withdraws a change on its page. */
export async function withdraw(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Withdraw…' }).click()
  await dialogOf(page).getByRole('button', { name: 'Withdraw' }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
}

export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option }).click()
}

/**
 * Reloads the page, as if the person came back later, and unlocks the keyring. A reload clears the page's data and
 * locks the keyring.
 */
export async function lookAgain(page: Page): Promise<void> {
  await page.reload()
  await steps.unlockWithPassphrase(page)
  await page.getByRole('button', { name: /\bLock the keyring/ }).waitFor()
}
