import { describe, expect, test } from 'vitest'
import { addSecret, create, createApp, dialogOf, edit, openApp, openEnvironment, save, value } from './apps-steps.ts'
import { axeProblems } from './org-steps.ts'
import { leaks, openShop } from './scene.ts'
import * as steps from './steps.ts'

// The rules for names, and the renaming and deletion of objects. An error names its field, and the form keeps the typed
// text.

const { world, owner, page } = await openShop('Production')
await addSecret(page, 'API_KEY', 'planted-api-key', ['Production'])

const field = (label: string) => dialogOf(page).getByLabel(label, { exact: true })
const creating = () => dialogOf(page).getByRole('button', { name: 'Create' })
const closed = () => dialogOf(page).waitFor({ state: 'detached' })
const openNew = async (where: string, what: string) => {
  await steps.goTo(page, where)
  await page.getByRole('button', { name: what }).first().click()
}
const choose = async (of: string, item: string) => {
  await page.getByRole('button', { name: `Actions for ${of}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

describe('a name that is in use', () => {
  const expectTaken = async (words: string) => {
    await creating().click()
    await dialogOf(page).getByText(words).waitFor()
    await expect.poll(() => field('Slug').evaluate((input) => input === document.activeElement)).toBe(true)
    expect(await field('Name').inputValue()).not.toBe('')
    await page.keyboard.press('Escape')
    await closed()
  }

  test('is refused for another application, with an error at the slug', async () => {
    await openNew('Applications', 'New application')
    await field('Name').fill('Web shop')
    await expectTaken('Another application uses it')
  })

  test('is refused for another environment', async () => {
    await openApp(page, 'Web shop')
    await page.getByRole('button', { name: 'New environment' }).click()
    await field('Name').fill('Production')
    await expectTaken('Another environment uses it')
  })

  test('is refused for another group', async () => {
    await steps.goTo(page, 'Groups')
    await create(page, 'New group', 'Shared')
    await openNew('Groups', 'New group')
    await field('Name').fill('Shared')
    await expectTaken('Another group uses it')
  })

  test('is refused for another secret before it is sent', async () => {
    await openApp(page, 'Web shop')
    await page.getByRole('button', { name: 'Add secret' }).click()
    await field('Value').fill('planted-again')
    await field('Name').fill('API_KEY')
    await dialogOf(page).getByText('Production already has a secret').waitFor()
    await expect.poll(() => dialogOf(page).getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true)
    await expect.poll(() => field('Value').inputValue()).toBe('planted-again')
    await page.keyboard.press('Escape')
    await closed()
  })
})

describe('an invalid name', () => {
  test.each(['With Capitals', '-begins', 'ends-', 'dot.ted', 'ünïcode'])(
    'is refused for the slug %s with the rule beside the field',
    async (slug) => {
      await openNew('Applications', 'New application')
      await field('Name').fill('Another')
      await field('Slug').fill(slug)
      await creating().click()
      await dialogOf(page).getByText('Lowercase letters, digits and inner hyphens.').waitFor()
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        await expect.poll(() => axeProblems(page)).toEqual([])
      }
      await page.keyboard.press('Escape')
      await closed()
    },
  )

  test.each(['1ST', 'WITH-HYPHEN', 'WITH SPACE', 'ÜMLAUT'])('is refused for the secret %s', async (name) => {
    await openApp(page, 'Web shop')
    await page.getByRole('button', { name: 'Add secret' }).click()
    await field('Name').fill(name)
    await dialogOf(page).getByText('letters, digits and _').waitFor()
    await expect.poll(() => dialogOf(page).getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await closed()
  })

  test('without Latin letters gives no slug, so the person must type one', async () => {
    await openNew('Applications', 'New application')
    await field('Name').fill('商店')
    await expect.poll(() => field('Slug').inputValue()).toBe('')
    await creating().click()
    await dialogOf(page).getByText('Lowercase letters, digits and inner hyphens.').waitFor()
    await field('Slug').fill('shop')
    await creating().click()
    await page.getByRole('heading', { name: '商店', level: 1 }).waitFor()
  })
})

describe('a very long name', () => {
  const name = `Söhne ${'& Töchter '.repeat(19)}`.trim()

  test('gets a slug of the maximum length, and fits into every page', async () => {
    await createApp(page, name)
    expect(new URL(page.url()).pathname).toMatch(/\/sohne-tochter-[a-z-]{40,50}[a-z]$/)
    await create(page, 'New environment', name)
    await addSecret(page, 'API_KEY', 'planted-of-long', [name])
    await value(page, 'API_KEY', name).waitFor()
    const overflow = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(await overflow()).toBe(0)
    await steps.goTo(page, 'Applications')
    await page.getByRole('link', { name }).waitFor()
    expect(await overflow()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
  })
})

describe('a value above the limit', () => {
  const text = 'planted-'.repeat(100_000)

  test('is refused in its cell, which keeps the text', async () => {
    await openApp(page, 'Web shop')
    await edit(page, 'API_KEY', 'Production', text)
    await save(page)
    await page.getByRole('alert').getByText('The value is too long').waitFor()
    await expect.poll(() => page.getByLabel('Value of API_KEY in Production').inputValue()).toBe(text)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await value(page, 'API_KEY', 'Production').waitFor()
  })

  test('is refused in the dialog, which keeps the text', async () => {
    await page.getByRole('button', { name: 'Add secret' }).click()
    await field('Name').fill('BIG')
    await field('Value').fill(text)
    await dialogOf(page).getByRole('button', { name: 'Add', exact: true }).click()
    await dialogOf(page).getByRole('alert').getByText('The value is too long').waitFor()
    await expect.poll(() => field('Value').inputValue()).toBe(text)
    await page.keyboard.press('Escape')
    await closed()
  })
})

describe('renaming and deleting', () => {
  const expectConfirmed = async (slug: string) => {
    const button = dialogOf(page).getByRole('button', { name: 'Delete', exact: true })
    await expect.poll(() => button.isDisabled()).toBe(true)
    await dialogOf(page).getByRole('textbox').fill(`${slug}x`)
    await expect.poll(() => button.isDisabled()).toBe(true)
    await dialogOf(page).getByRole('textbox').fill(slug)
    await button.click()
  }
  const rename = async (to: string) => {
    await field('Name').fill(to)
    await dialogOf(page).getByRole('button', { name: 'Rename' }).click()
    await closed()
  }

  test('works for an environment', async () => {
    await openEnvironment(page, 'Production', 'Settings')
    await page.getByRole('button', { name: 'Rename…' }).click()
    await rename('Live')
    await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await closed()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await expectConfirmed('production')
    await page.getByText('No environment yet').waitFor()
  })

  test.each([
    { pages: 'Groups', before: 'Shared', after: 'Common', slug: 'shared' },
    { pages: 'Applications', before: 'Web shop', after: 'Old shop', slug: 'web-shop' },
  ])('works for one of the $pages', async ({ pages, before, after, slug }) => {
    await steps.goTo(page, pages)
    await choose(before, 'Rename…')
    await rename(after)
    await page.getByRole('link', { name: after, exact: true }).click()
    await page.getByRole('heading', { name: after, level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toContain(`/${slug}`)
    await steps.goTo(page, pages)
    await choose(after, 'Delete…')
    await expectConfirmed(slug)
    await page.getByRole('link', { name: after, exact: true }).waitFor({ state: 'detached' })
  })

  test('leaves no page at the address of a deleted application', async () => {
    await page.goto('/orgs/acme-co/apps/web-shop')
    await page.getByText('There is no such page').waitFor()
  })
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
