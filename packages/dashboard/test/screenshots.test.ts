import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { desk, openPage, pages } from './pages.ts'
import { openSite, type Site } from './site.ts'

const folder = process.env.SKERRY_SCREENSHOTS ?? ''
/**
 * The pictures to make, by name. They show only the window, as in the README. If unset, all are made, and show the
 * whole page.
 */
const asked = process.env.SKERRY_PICTURES?.split(',')

const tablet = { width: 820, height: 1180 }
const phone = { width: 390, height: 844 }
const pictures = [
  { name: 'light', size: desk, colorScheme: 'light' },
  { name: 'dark', size: desk, colorScheme: 'dark' },
  { name: 'tablet', size: tablet, colorScheme: 'light' },
  { name: 'phone', size: phone, colorScheme: 'light' },
  { name: 'phone-dark', size: phone, colorScheme: 'dark' },
] as const

// Only for `npm run screenshots`. The pictures are for people, and nothing is asserted.
describe.runIf(folder !== '')('pictures', () => {
  let site: Site

  beforeAll(async () => {
    await mkdir(folder, { recursive: true })
    site = await openSite()
  })
  afterAll(() => site?.close())

  const wanted = pages.flatMap((row) => {
    const looks = pictures.filter(({ name }) => asked?.includes(`${row.name}-${name}`) ?? true)
    return looks.length > 0 ? [{ ...row, looks }] : []
  })

  test.each(wanted)('$name', async ({ looks, ...row }) => {
    const page = await openPage(site, row)
    for (const { name, size, colorScheme } of looks) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      const path = join(folder, `${row.name}-${name}.png`)
      await page.screenshot({ path, fullPage: asked === undefined, animations: 'disabled' })
    }
  })
})
