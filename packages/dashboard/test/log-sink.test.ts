import { me } from '@skerry/contract/me/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { seal } from '../../server/src/features/audit-proof/seal.ts'
import { shipAll } from '../../server/src/features/log-sink/jobs.ts'
import { startCollector } from '../../server/test/services/collector.ts'
import { builtIn } from '../../server/test/world.ts'
import { createApp, dialogOf } from './apps-journey.ts'
import { storedText } from './browser.ts'
import { row } from './changes-journey.ts'
import * as journey from './journey.ts'
import { axeProblems } from './org-journey.ts'
import { beginWalk } from './walk.ts'

// Where the audit log is sent: set, tried, watched, turned off and on, moved to another collector, and removed.

const [first, second] = [await startCollector(), await startCollector()]
afterAll(() => Promise.all([first.close(), second.close()]))

const { world, owner, page } = await beginWalk({ ...builtIn, SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
// Entries are sent when the suite says so: nobody else does meanwhile.
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

/** As the jobs would, now; and the page as after a while. */
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
  test('is set with an address and headers, whose values are masked and checked as they are typed', async () => {
    await journey.goTo(page, 'Log sink')
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
    await dialog().getByText('This header is there already.').waitFor()
    await dialog().getByLabel('Name of header 2').fill('x-scope')
    await dialog().getByLabel('Value of header 2').fill('audit')
    expect(await axeProblems(page)).toEqual([])
    await confirm('Set the log sink')
    await expectFacts({ State: 'enabled', Address: first.url, Headers: 'authorization\nx-scope', Waiting: '0' })
    expect(await axeProblems(page)).toEqual([])
  })

  test('tells what came of a test record', async () => {
    await onPage('Send a test record').click()
    await page.getByText('The collector took the record').waitFor()
    expect(first.records.map(({ body }) => body)).toEqual(['log_sink.tested'])
    expect(first.requests.at(-1)).toMatchObject({ authorization: credential, 'x-scope': 'audit' })
    first.answer = refuse
    await onPage('Send a test record').click()
    await page.getByText('The collector did not take the record').waitFor()
    await page.getByText('answered 401').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await expectFacts({ State: 'enabled', 'Last error': 'none' })
    first.answer = null
  })

  test('shows how far delivery is', async () => {
    await deliver()
    await expectFacts({ Waiting: '0', 'Last success': 'just now', 'Last error': 'none', Rejected: '0' })
    const position = await fact('Position')
    await createApp(page, 'Web shop')
    await seal(world.server.context)
    await journey.goTo(page, 'Log sink')
    await page.reload()
    await expectFacts({ Waiting: '1' })
    await deliver()
    await expectFacts({ Waiting: '0' })
    expect(await fact('Position')).not.toBe(position)
    expect(first.records.map(({ body }) => body)).toContain('app.created')
  })

  test('that a collector refuses says so and why, and goes on with what waited once it is enabled', async () => {
    await createApp(page, 'Billing')
    first.records.length = 0
    first.answer = refuse
    await deliver()
    await journey.goTo(page, 'Log sink')
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

  test('that an admin has disabled sends nothing', async () => {
    await onPage('Disable').click()
    await page.getByText('An admin has disabled it').waitFor()
    first.records.length = 0
    await deliver()
    await expectFacts({ State: 'disabled' })
    expect(first.records).toEqual([])
  })

  test('keeps its headers where it stays, and sends those of one collector to no other', async () => {
    await onPage('Change…').click()
    expect(await dialog().getByLabel('Enabled').isChecked()).toBe(false)
    await dialog().getByText('Otherwise they stay: authorization, x-scope.').waitFor()
    await dialog().getByLabel('Address').fill(second.url)
    await dialog().getByText('Another host is not sent the headers of this one').waitFor()
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

  test('is removed when a question is answered, and then there is none', async () => {
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

test('no value of a header came back, or was kept', async () => {
  const kept = [...(await storedText(owner)), await page.content(), ...world.answers, ...world.log]
  expect(kept.filter((text) => text.includes('collector-canary'))).toEqual([])
})

test('nothing was complained about by the console or the Content-Security-Policy', () => {
  expect(owner.complaints).toEqual([])
})
