import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import type { Page } from 'playwright-core'
import { newId, newSecret } from '../../server/src/kernel/context.ts'
import type { World } from '../../server/test/world.ts'
import { dialogOf, openColumnMenu, pickTool } from './apps-steps.ts'
import type { Site } from './site.ts'
import * as steps from './steps.ts'

// The steps that run on a page before it is checked or pictured.

/** Presses the button of this name. The buttons of the sidebar also show a state, so their names are patterns. */
export function press(name: string | RegExp) {
  return async (page: Page) => {
    await page.getByRole('button', { name, exact: true }).first().click()
    await page.getByRole('dialog').or(page.getByRole('menu')).or(page.getByText('Hide values')).first().waitFor()
  }
}

/** Chooses an item in the menu of the last row. */
export function choose(item: string) {
  return async (page: Page) => {
    await page
      .getByRole('button', { name: /^Actions for/ })
      .last()
      .click()
    await page.getByRole('menuitem', { name: item }).click()
    await page.getByRole('dialog').waitFor()
  }
}

export function loseServer(then: (page: Page) => Promise<unknown>) {
  return async (page: Page) => {
    await page.route('**/v1/**', (route) => route.abort())
    // A server may be reachable without a network, so the browser's `offline` event must not stop the page's requests.
    await page.evaluate(() => dispatchEvent(new Event('offline')))
    await then(page)
    await page.getByText('The server cannot be reached').first().waitFor()
  }
}

/** Opens the dialog that changes the log sink, and replaces the headers. */
export async function changeSink(page: Page) {
  await press('Change…')(page)
  await dialogOf(page).getByLabel('Replace the headers').check()
  await dialogOf(page).getByLabel('Name of header 1').fill('authorization')
  await dialogOf(page).getByLabel('Value of header 1').fill('Bearer of a collector')
}

export async function askForLink(page: Page) {
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByRole('button', { name: 'Mail me a link' }).click()
  await page.getByText('Ask for your link').or(page.getByRole('alert')).waitFor()
}

export const unlock = press(/Unlock the keyring$/)

export const openAccountMenu = press(/^Account /)

export async function useKit(page: Page) {
  await unlock(page)
  await dialogOf(page).getByRole('button', { name: 'Use the recovery kit' }).click()
  await dialogOf(page).getByLabel('Code of the recovery kit').waitFor()
}

/** Opens the dialog that answers the first request for access. */
export async function openGrant(page: Page) {
  await page
    .getByRole('button', { name: /^Compare words with/ })
    .last()
    .click()
  await dialogOf(page)
    .getByLabel(/^Fingerprint of the key of/)
    .waitFor()
}

/** Opens the dialog that grants the keys that wait, with the words of the first person. */
export async function openComplete(page: Page) {
  await press('Complete')(page)
  await dialogOf(page)
    .getByRole('button', { name: /^Compare words/ })
    .first()
    .click()
  await dialogOf(page)
    .getByLabel(/^Fingerprint of the key of/)
    .waitFor()
}

/** Opens the dialog that grants access to a team, and ticks the first application. */
export async function openGrantAccess(page: Page) {
  await press('Grant access')(page)
  await dialogOf(page)
    .getByRole('checkbox', { name: /, all but production$/ })
    .first()
    .check()
}

/** Opens the dialog that grants a request for another time. */
export async function changeTime(page: Page) {
  await page
    .getByRole('button', { name: /another time$/ })
    .last()
    .click()
  await dialogOf(page).getByLabel('For how long').first().waitFor()
}

export const enrol = (page: Page, { world }: Site) => steps.setUpAuthenticator(page, world)

export async function openRequest(page: Page, { world }: Site) {
  const { code } = await askForCliSession(world)
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Approve' }).waitFor()
}

export async function stepUp(page: Page, site: Site) {
  await openRequest(page, site)
  await press('Approve')(page)
}

export async function openPalette(page: Page) {
  await page.keyboard.press('Control+k')
  await page.getByLabel('Find or do').waitFor()
}

/** Opens the navigation, which is hidden on a phone. */
export async function openNavigation(page: Page) {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Navigation', exact: true }).click()
  await page.getByRole('link', { name: 'Members' }).waitFor()
}

export const goToMembers = (page: Page) => steps.goTo(page, 'Members')

export async function revealOne(page: Page) {
  await page.locator('.matrix-letter').first().waitFor()
  await page
    .getByRole('button', { name: /^Reveal/ })
    .first()
    .click()
  await page.locator('.matrix-shown').first().waitFor()
  // Moves the pointer away, because the row's tools would cover the value.
  await page.getByRole('heading', { level: 1 }).click()
}

export async function openSecret(page: Page) {
  await page.locator('.matrix-cell').first().hover()
  await page
    .getByRole('button', { name: /^Details of/ })
    .first()
    .click()
  await dialogOf(page)
    .getByRole('button', { name: /^Reveal/ })
    .first()
    .click()
  await dialogOf(page).getByText('Version 1').waitFor()
}

/** Opens the editor of a value in its drawer, and the form of its details. */
export async function editSecret(page: Page) {
  await openSecret(page)
  await dialogOf(page).getByRole('button', { name: 'Edit', exact: true }).click()
  await dialogOf(page).getByRole('button', { name: 'Edit details' }).click()
  await dialogOf(page)
    .getByLabel(/^Value of/)
    .waitFor()
  await dialogOf(page).getByLabel('Description').waitFor()
}

export async function openEntry(page: Page) {
  await page.getByRole('button', { name: 'Show details' }).first().click()
  await page.getByText('Request', { exact: true }).waitFor()
}

export async function openDetails(page: Page) {
  await page.getByRole('button', { name: 'Show details' }).first().click()
  await page.getByText('Public key of the authority').waitFor()
}

/** Opens the details of the last list, which is the webhooks. */
export async function openDeliveries(page: Page) {
  await page.getByRole('button', { name: 'Show details' }).last().click()
  await page.getByText('connection.revoked', { exact: true }).waitFor()
}

export async function openRun(page: Page) {
  await page.getByRole('button', { name: 'Show details' }).first().click()
  await page.getByText('was not written by this binding').waitFor()
}

export async function connectWorkers(page: Page) {
  await page.getByRole('button', { name: 'Connect a destination' }).click()
  await dialogOf(page).getByRole('button', { name: 'Cloudflare Workers' }).click()
  await dialogOf(page).getByLabel('Account id').waitFor()
}

export async function editBinding(page: Page) {
  await choose('Edit…')(page)
  await dialogOf(page).getByText('names:').waitFor()
  await dialogOf(page).getByText('unchanged').waitFor()
}

export async function pushNow(page: Page) {
  await choose('Push now…')(page)
  await dialogOf(page).getByLabel('Overwrite').waitFor()
}

export async function pickGrantee(page: Page) {
  await page.getByRole('button', { name: 'Grant access' }).click()
  await dialogOf(page).getByLabel('To').click()
  await page.getByRole('option').first().click()
  await dialogOf(page).getByLabel('I compared these words').waitFor()
}

export async function showBroken(page: Page) {
  await page.locator('.matrix-letter').first().waitFor()
  await page.getByLabel('Show').getByText('Broken').click()
  await page.getByRole('button', { name: 'does not open' }).waitFor()
}

export async function beginEdit(page: Page) {
  await page.locator('.matrix-letter').first().waitFor()
  await pickTool(page, 'LOG_LEVEL', 'Edit LOG_LEVEL in Staging')
  await page.getByLabel('Value of LOG_LEVEL in Staging').fill('debug')
}

export async function paste(page: Page) {
  await openColumnMenu(page, 'Staging', 'Import a file…')
  await dialogOf(page).getByLabel('Text of the file').fill('LOG_LEVEL=debug\nQUEUE_URL=amqp://queue.staging\n')
  await dialogOf(page).getByText('1 added').waitFor()
}

export async function copyColumn(page: Page) {
  await openColumnMenu(page, 'Production', 'Copy to another…')
  await dialogOf(page).getByRole('combobox', { name: 'Into' }).click()
  await page.getByRole('option', { name: 'Staging' }).first().click()
  await dialogOf(page)
    .getByText(/added|changed/)
    .first()
    .waitFor()
}

export async function download(page: Page) {
  await openColumnMenu(page, 'Staging', 'Download .env…')
  await dialogOf(page).getByText('as plain text').waitFor()
}

export async function selectAll(page: Page) {
  await page.getByLabel('Select all secrets that are shown').check()
  await page.getByRole('region', { name: 'Selected secrets' }).waitFor()
}

export async function copySelected(page: Page) {
  await selectAll(page)
  await press('Copy to…')(page)
  for (const [label, environment] of [
    ['From', 'Production'],
    ['To', 'Staging'],
  ] as const) {
    await dialogOf(page).getByRole('combobox', { name: label }).click()
    await page.getByRole('option', { name: environment }).first().click()
  }
  await dialogOf(page)
    .getByText(/added|changed/)
    .first()
    .waitFor()
}

export async function deleteSelected(page: Page) {
  await selectAll(page)
  await press('Delete…')(page)
  await dialogOf(page).getByRole('checkbox', { name: 'Staging' }).first().check()
}

export async function makeToken(page: Page) {
  await page.getByRole('button', { name: 'New token' }).click()
  await dialogOf(page).getByLabel('Name').fill('worker in staging')
  await dialogOf(page).getByRole('button', { name: 'Create' }).click()
  await page.getByRole('dialog', { name: 'The new token' }).waitFor()
}

export async function showLastDay(page: Page) {
  await page.getByRole('combobox', { name: 'Period' }).click()
  await page.getByRole('option', { name: 'Last day' }).click()
  await page.getByRole('figure', { name: 'Requests by the hour' }).waitFor()
}

export async function dispatch(page: Page) {
  await page.getByRole('button', { name: 'Dispatch a task' }).click()
  await dialogOf(page).getByRole('button', { name: 'Dispatch', exact: true }).click()
  await page.getByRole('dialog', { name: 'The token of the task' }).waitFor()
}

/** Sends the request of `skerry login`. */
export async function askForCliSession(world: World): Promise<{ code: string; sessionId: string }> {
  const sessionId = newId('cliSession')
  const body = { sessionId, tokenHash: newSecret(), deviceLabel: 'ada@laptop', client: 'skerry-cli/0.1.0' }
  const answer = await world.call(cliLogin.create, { body })
  if (answer.error) throw new Error(answer.error.message)
  return { code: answer.body.code, sessionId }
}
