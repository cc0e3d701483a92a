import type { Locator, Page } from 'playwright-core'
import { dialogOf } from './apps-journey.ts'
import * as journey from './journey.ts'

/** What people do about changes that wait for approval, in the words of the pages. */

export const row = (page: Page, name: string | RegExp): Locator => page.getByRole('row', { name })

/** The tag of a secret that a change waits for. */
export const queued = (page: Page, name: RegExp): Locator => row(page, name).getByText('queued', { exact: true })

/** On the page of an environment, where it opens the tab. What is not given stays as it is. */
export async function protect(page: Page, settings: { approvals?: number; ownCounts?: boolean }): Promise<void> {
  await journey.openTab(page, 'Protection')
  await page.getByRole('button', { name: /^(Protect|Change)$/ }).click()
  const dialog = dialogOf(page)
  if (settings.approvals) await dialog.getByLabel('Approvals that a change needs').fill(`${settings.approvals}`)
  if (settings.ownCounts) await dialog.getByLabel('Admins may approve their own changes').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
}

export async function openChange(page: Page, name: string | RegExp): Promise<void> {
  await journey.goTo(page, 'Changes')
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

/** On the page of a change: withdraws it. */
export async function withdraw(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Withdraw…' }).click()
  await dialogOf(page).getByRole('button', { name: 'Withdraw' }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
}

export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option }).click()
}

/** Looks again, as after a while: what the page had, the keyring too, is gone. */
export async function lookAgain(page: Page): Promise<void> {
  await page.reload()
  await journey.unlockWithPassphrase(page)
  await page.getByRole('button', { name: 'Lock the keyring', exact: true }).waitFor()
}
