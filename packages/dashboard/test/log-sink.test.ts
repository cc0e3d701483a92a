import { me } from '@skerry/contract/me/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { seal } from '../../server/src/features/audit-proof/seal.ts'
import { shipAll } from '../../server/src/features/log-sink/jobs.ts'
import { startCollector } from '../../server/test/services/collector.ts'
import { builtIn } from '../../server/test/world.ts'
import { createApp, dialogOf } from './apps-steps.ts'
import { storedText } from './browser.ts'
import { row } from './changes-steps.ts'
import { axeProblems } from './org-steps.ts'
import { openOwner } from './scene.ts'
import * as steps from './steps.ts'

// The log sink: its setup, test, delivery, disabling, change of collector, and removal.

const [first, second] = [await startCollector(), await startCollector()]
afterAll(() => Promise.all([first.close(), second.close()]))

const { world, owner, page } = await openOwner({ ...builtIn, SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
// Background jobs are stopped, so that entries are sent only when the suite does so.
await world.server.context.queue.stop()
const { body: own } = await world.call(me.get, { as: owner.bearer() })
const orgId = own.orgs[0]?.id as string

const credential = 'Bearer collector-canary'
const dialog = () => dialogOf(page)
const onPage = (name: string) => page.getByRole('button', { name, exact: true })
const confirm = async (name: string) => {
  await dialog().getByRole('button', { name, exact: true }).click()
  await dialog().waitFor({ state: 'detached' })
}
const fact = (name: string) =>
  row(page, new RegExp(`^${name}`))
    .getByRole('cell')
    .innerText()
const expectFacts = (facts: Record<string, string>) =>
  expect
    .poll(async () =>
      Object.fromEntries(await Promise.all(Object.keys(facts).map(async (one) => [one, await fact(one)]))),
    )
    .toEqual(facts)

/** Seals and sends entries as the background jobs would, then reloads the page. */
async function deliver(): Promise<void> {
  await seal(world.server.context)
  await shipAll(world.server.context, orgId)
  await page.reload()
}

const refuse: typeof first.answer = (response) => {
  response.writeHead(401).end('who are you')
  return false
}

describe('a log sink', () => {
  test('is set up with an address and headers, whose values are masked and checked while typed', async () => {
    await steps.goTo(page, 'Log sink')
    await page.getByText('No log sink yet').waitFor()
    await onPage('Set a log sink').click()
    await dialog().getByLabel('Address').fill('ftp://collector.example.com')
    await confirmRefused('This has a character that is not allowed.')
    await dialog().getByLabel('Address').fill(first.url)
    await dialog().getByLabel('Name of header 1').fill('x y')
    await dialog().getByText('such as x-api-key').waitFor()
    expect(await dialog().getByRole('button', { name: 'Set the log sink' }).isDisabled()).toBe(true)
    await dialog().getByLabel('Name of header 1').fill('Authorization')
    await dialog().getByLabel('Value of header 1').fill(credential)
    expect(await dialog().getByLabel('Value of header 1').getAttribute('type')).toBe('password')
    await onPage('Add a header').click()
    await dialog().getByLabel('Name of header 2').fill('authorization')
    await dialog().getByText('You have this header already.').waitFor()
    await dialog().getByLabel('Name of header 2').fill('x-scope')
    await dialog().getByLabel('Value of header 2').fill('audit')
    expect(await axeProblems(page)).toEqual([])
    await confirm('Set the log sink')
    await expectFacts({ State: 'enabled', Address: first.url, Headers: 'authorization\nx-scope', Waiting: '0' })
    expect(await axeProblems(page)).toEqual([])
  })

  test('shows the result of a test record', async () => {
    await onPage('Send a test record').click()
    await page.getByText('The collector accepted the record').waitFor()
    expect(first.records.map(({ body }) => body)).toEqual(['log_sink.tested'])
    expect(first.requests.at(-1)).toMatchObject({ authorization: credential, 'x-scope': 'audit' })
    first.answer = refuse
    await onPage('Send a test record').click()
    await page.getByText('The collector did not accept the record').waitFor()
    await page.getByText('answered 401').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await expectFacts({ State: 'enabled', 'Last error': 'none' })
    first.answer = null
  })

  test('shows the progress of delivery', async () => {
    await deliver()
    await expectFacts({ Waiting: '0', 'Last success': 'just now', 'Last error': 'none', Rejected: '0' })
    const position = await fact('Position')
    await createApp(page, 'Web shop')
    await seal(world.server.context)
    await steps.goTo(page, 'Log sink')
    await page.reload()
    await expectFacts({ Waiting: '1' })
    await deliver()
    await expectFacts({ Waiting: '0' })
    expect(await fact('Position')).not.toBe(position)
    expect(first.records.map(({ body }) => body)).toContain('app.created')
  })

  test('is disabled with the reason if a collector refuses, and sends the waiting entries after it is enabled', async () => {
    await createApp(page, 'Billing')
    first.records.length = 0
    first.answer = refuse
    await deliver()
    await steps.goTo(page, 'Log sink')
    await page.getByText('The collector refused: it answered 401').waitFor()
    await expectFacts({ State: 'disabled', 'Last error': 'answered 401', Waiting: '1' })
    expect(await axeProblems(page)).toEqual([])
    first.answer = null
    await onPage('Enable').click()
    await expectFacts({ State: 'enabled', 'Last error': 'none' })
    await deliver()
    expect(first.records.map(({ body }) => body)).toContain('app.created')
    expect(first.requests.at(-1)).toMatchObject({ authorization: credential })
  })

  test('sends nothing while an admin has disabled it', async () => {
    await onPage('Disable').click()
    await page.getByText('An admin has disabled it').waitFor()
    first.records.length = 0
    await deliver()
    await expectFacts({ State: 'disabled' })
    expect(first.records).toEqual([])
  })

  test('keeps its headers for the same host, and never sends them to another host', async () => {
    await onPage('Change…').click()
    expect(await dialog().getByLabel('Enabled').isChecked()).toBe(false)
    await dialog().getByText('If you do not replace them, these headers stay: authorization, x-scope.').waitFor()
    await dialog().getByLabel('Address').fill(second.url)
    await dialog().getByText('A different host does not get the stored headers').waitFor()
    expect(await dialog().getByLabel('Replace the headers').isDisabled()).toBe(true)
    await dialog().getByLabel('Name of header 1').fill('x-key')
    await dialog().getByLabel('Value of header 1').fill('other')
    await dialog().getByLabel('Enabled').check()
    await confirm('Save')
    await expectFacts({ State: 'enabled', Address: second.url, Headers: 'x-key' })
    await deliver()
    expect(second.records.map(({ body }) => body)).toContain('log_sink.updated')
    expect(second.requests.at(-1)).toMatchObject({ 'x-key': 'other' })
    expect(second.requests.at(-1)?.authorization).toBeUndefined()
  })

  test('is removed only after a confirmation', async () => {
    await onPage('Remove…').click()
    await dialog().getByText('Remove the log sink?').waitFor()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await expectFacts({ Address: second.url })
    await onPage('Remove…').click()
    await confirm('Remove')
    await page.getByText('No log sink yet').waitFor()
  })
})

async function confirmRefused(message: string): Promise<void> {
  await dialog().getByRole('button', { name: 'Set the log sink' }).click()
  await dialog().getByText(message).waitFor()
}

test('the server never returned a header’s value, and the browser stored none', async () => {
  const kept = [...(await storedText(owner)), await page.content(), ...world.answers, ...world.log]
  expect(kept.filter((text) => text.includes('collector-canary'))).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
