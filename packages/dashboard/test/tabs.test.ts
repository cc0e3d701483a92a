import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { mailedToken } from '../../server/test/people.ts'
import { addSecret, create, createApp, edit, value } from './apps-steps.ts'
import { addPage, keyringWorkers, storedText } from './browser.ts'
import { join, leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// Tabs of one browser share one unlocked keyring. Its keys are in one worker, and in no page and no storage.

const scene = await openOwner()
const { world, owner, page } = scene
await createApp(page, 'Web shop')
await create(page, 'New environment', 'Production')
await addSecret(page, 'API_KEY', 'planted-shared', ['Production'])
const address = page.url()
await join(scene, 'grace@example.com')
const { context } = owner
const grace = 'grace@example.com'

const unlocked = (at: Page) => at.getByRole('button', { name: /\bLock the keyring/ }).waitFor()
const locked = (at: Page) => at.getByRole('button', { name: 'Unlock the keyring' }).waitFor()
const workers = () => keyringWorkers(page)

const opened: Page[] = []
afterEach(() => Promise.all(opened.splice(0).map((tab) => tab.close())))

/** Opens another tab of the same browser. */
async function openTab(): Promise<Page> {
  const tab = await addPage(owner)
  opened.push(tab)
  await tab.goto(address)
  return tab
}

async function reveal(at: Page) {
  await value(at, 'API_KEY', 'Production').click()
  await at.locator('.matrix-shown', { hasText: 'planted-shared' }).waitFor()
}

describe('an unlocked keyring', () => {
  test('is unlocked in a new tab, and stays unlocked there when the first tab is reloaded', async () => {
    const tab = await openTab()
    await reveal(tab)
    await page.reload()
    await reveal(page)
    expect(await workers()).toHaveLength(1)
  })

  test('is unlocked in a tab that was open before, and its dialog closes', async () => {
    await steps.lock(page)
    const tab = await openTab()
    await locked(tab)
    await value(tab, 'API_KEY', 'Production').click()
    await tab.getByRole('dialog', { name: 'Unlock your keyring' }).waitFor()
    await steps.unlockWithPassphrase(page)
    await tab.locator('.matrix-shown', { hasText: 'planted-shared' }).waitFor()
  })

  test('leaves nothing of a key in a page or in storage', async () => {
    const tab = await openTab()
    await unlocked(tab)
    const kept = (await storedText({ ...owner, page: tab })).join('\n')
    expect(kept).not.toMatch(/planted|"d":|pk1\.|wd1\./)
  })

  test('is not unlocked after the last tab was closed', async () => {
    const only = await openTab()
    await unlocked(only)
    // The first tab goes to a page without a keyring, so the other one is the last.
    await page.goto('/skerry.svg')
    await unlocked(only)
    await only.close()
    await expect.poll(workers).toEqual([])
    await page.goto(address)
    await locked(page)
    await steps.unlockWithPassphrase(page)
    await unlocked(page)
  })
})

describe('locking', () => {
  test('in one tab locks all, and ends the worker', async () => {
    const tab = await openTab()
    await unlocked(tab)
    await reveal(page)
    await steps.lock(tab)
    await locked(page)
    expect(await page.content()).not.toContain('planted')
    await expect.poll(workers).toEqual([])
    await steps.unlockWithPassphrase(page)
    await unlocked(tab)
  })

  test('in one tab keeps the typed text of another sealed', async () => {
    const tab = await openTab()
    await unlocked(tab)
    await edit(tab, 'API_KEY', 'Production', 'planted-typed')
    await steps.lock(page)
    await tab.getByText('One change is not saved. This tab keeps').waitFor()
    await steps.unlockWithPassphrase(page)
    await expect.poll(() => tab.getByLabel('Value of API_KEY in Production').inputValue()).toBe('planted-typed')
    await tab.getByRole('button', { name: 'Cancel', exact: true }).click()
  })

  test('by time counts the use of all tabs', async () => {
    await context.clock.install()
    await page.reload()
    await steps.unlockWithPassphrase(page)
    const tab = await openTab()
    await unlocked(tab)
    const idle = (minutes: number) => context.clock.fastForward(minutes * 60_000)
    await idle(14)
    await tab.keyboard.press('Shift')
    // The other tab has heard of it when it shows the whole time again.
    await page.getByText('15 min').waitFor()
    await idle(14)
    for (const at of [page, tab]) await unlocked(at)
    await idle(1.5)
    for (const at of [page, tab]) await locked(at)
    await expect.poll(workers).toEqual([])
    await steps.unlockWithPassphrase(page)
  })
})

test('in a browser without shared workers, each tab unlocks by itself, and locking still locks all', async () => {
  const [one, other] = [await addPage(owner), await addPage(owner)]
  opened.push(one, other)
  for (const tab of [one, other]) {
    await tab.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'))
    await tab.goto(address)
    await locked(tab)
    await steps.unlockWithPassphrase(tab)
    await unlocked(tab)
  }
  expect(one.workers()).toHaveLength(1)
  await steps.lock(one)
  await locked(other)
  await locked(page)
  for (const tab of [one, other]) await expect.poll(() => tab.workers()).toEqual([])
  await steps.unlockWithPassphrase(page)
  await unlocked(page)
})

describe('a script that runs in a page of this server', () => {
  const ask = 'sealUnderPassphrase'

  test('cannot ask the worker without joining, and cannot join as another person', async () => {
    const locks = () => page.evaluate(async () => (await navigator.locks.query()).held?.map(({ name }) => name))
    const listed = async () => (await locks())?.find((name) => name?.startsWith('skerry-keyring '))
    await expect.poll(listed).toBeDefined()
    const name = (await listed())?.split(' ').at(-1)
    const [script] = await workers()
    const answers = await page.evaluate(
      async ([script, name, ask]) => {
        const { port } = new SharedWorker(script ?? '', { type: 'module', name })
        const answerTo = (question: object) =>
          new Promise((resolve) => {
            port.onmessage = ({ data }) => resolve(data)
            port.postMessage({ id: 1, ...question })
          })
        const key = { passphrase: 'of a stranger', userId: 'usr_stranger' }
        return [
          await answerTo({ name: ask, input: key }),
          await answerTo({ name: 'join', input: { userId: 'usr_stranger' } }),
          await answerTo({ name: ask, input: key }),
        ]
      },
      [script, name, ask],
    )
    const refused = {
      id: 1,
      error: { code: 'invalid_argument', message: 'an argument is not valid: this tab has not joined' },
    }
    expect(answers).toEqual([refused, { id: 1, value: null }, refused])
    await unlocked(page)
  })

  test.each(['/docs', '/connect'])('cannot reach the worker from %s, whose policy allows no worker', async (path) => {
    const [script = ''] = await workers()
    const tab = await context.newPage()
    opened.push(tab)
    await tab.goto(path)
    const reached = tab.evaluate(
      (script) =>
        new Promise((resolve) => {
          try {
            const worker = new SharedWorker(script, { type: 'module', name: 'x' })
            worker.onerror = () => resolve('refused')
            worker.port.onmessage = () => resolve('answered')
            worker.port.postMessage({ id: 1, name: 'join', input: { userId: '' } })
          } catch {
            resolve('refused')
          }
        }),
      script,
    )
    expect(await reached).toBe('refused')
  })
})

describe('the end of a session', () => {
  test('locks all tabs', async () => {
    const tab = await openTab()
    await unlocked(tab)
    await steps.signOut(tab)
    await expect.poll(workers).toEqual([])
    await page.getByLabel('E-mail').waitFor()
    await steps.signInByMail(page, world)
    await page.goto(address)
    await locked(page)
    await steps.unlockWithPassphrase(page)
    await unlocked(page)
  })
})

test('another person who signs in to the same browser locks the keyring, and unlocks only their own', async () => {
  const token = await mailedToken(world, grace)
  const tab = await addPage(owner)
  opened.push(tab)
  await tab.goto(`/sign-in/link#${token}`)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await locked(tab)
  await locked(page)
  await expect.poll(workers).toEqual([])
  await steps.unlockWithPassphrase(tab)
  await unlocked(tab)
  await locked(page)
})

test('no plaintext is left anywhere', async () => {
  expect(await leaks(world, { owner })).toEqual([])
  expect(owner.complaints).toEqual([])
})
