import { expect } from 'vitest'
import { dialogOf } from './apps-steps.ts'
import type { Visitor } from './browser.ts'
import { choose } from './org-steps.ts'

/** Steps that people take with recovery and managed keys. They use the texts of the pages. */

export const press = ({ page }: Visitor, name: string) => page.getByRole('button', { name, exact: true }).click()
export const pressIn = ({ page }: Visitor, name: string) =>
  dialogOf(page).getByRole('button', { name, exact: true }).click()
export const closed = ({ page }: Visitor) => dialogOf(page).waitFor({ state: 'detached' })
export const wordsIn = ({ page }: Visitor, label: string) => page.getByLabel(label).innerText()

/** Chooses custodians by name in the dialog that sets recovery up. */
export async function chooseCustodians({ page }: Visitor, names: string[]): Promise<void> {
  const dialog = dialogOf(page)
  for (const name of names) {
    await dialog.getByRole('combobox', { name: 'Custodians' }).click()
    await page.getByRole('option', { name, exact: true }).click()
  }
  await page.keyboard.press('Tab')
}

/**
 * Contributes a custodian's share on the page Recovery, after checking that the words equal those that the target has
 * read out.
 */
export async function giveShare(custodian: Visitor, target: string, words: string): Promise<void> {
  await choose(custodian.page, target, 'Give my share…')
  const give = dialogOf(custodian.page)
  const compared = give.getByLabel(/I compared these words/)
  await compared.waitFor()
  expect(await wordsIn(custodian, `Fingerprint of the key of ${target}`)).toBe(words)
  expect(await give.getByRole('button', { name: 'Give my share' }).isDisabled()).toBe(true)
  await compared.check()
  await pressIn(custodian, 'Give my share')
  await closed(custodian)
}
