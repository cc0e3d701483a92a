import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, test } from 'vitest'
import type { Visitor } from '../../dashboard/test/browser.ts'
import { openScene, press, type Scene, screen } from './scene.ts'

// Makes pictures of each screen for a person to look at. SKERRY_SCREENSHOTS names a folder below the project's.
const folder = process.env.SKERRY_SCREENSHOTS

const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 } }

type Take = (name: string) => Promise<void>

describe.skipIf(!folder)('pictures of the Connect page', () => {
  test('show each screen in light and dark, on a phone and on a desktop', async () => {
    const into = resolve(folder as string)
    await mkdir(into, { recursive: true })
    const stage = await openScene()
    const visitor = await stage.arrive()
    const { page } = visitor
    await walk(stage, visitor, async (name) => {
      for (const [size, viewport] of Object.entries(sizes))
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize(viewport)
          await page.emulateMedia({ colorScheme })
          await page.screenshot({ path: join(into, `connect-${name}-${size}-${colorScheme}.png`) })
        }
    })
  })
})

async function walk(stage: Scene, visitor: Visitor, take: Take): Promise<void> {
  const { page } = visitor
  const open = async (providerId: string) => {
    await page.goto((await stage.link({ providerId })).path)
    await page.getByRole('button', { name: 'Agree and continue' }).waitFor()
  }
  await open('calendar')
  await take('agree')
  await press(visitor, 'Agree and continue')
  await screen(visitor, 'Continue at Calendar')
  await take('oauth')
  await open('shop')
  await press(visitor, 'Agree and continue')
  await screen(visitor, 'Sign in to Corner Shop')
  await page.getByText('I also enter a code from an app').click()
  await press(visitor, 'Connect')
  await page.getByText('The password is missing.').waitFor()
  await take('login')
  await press(visitor, 'Sign in on the site itself instead')
  await press(visitor, 'Prepare the window')
  await page.getByRole('link', { name: 'Open the window to sign in' }).waitFor()
  await take('live-view')
  await open('acme')
  await press(visitor, 'Agree and continue')
  await page.getByLabel('Secret key').first().fill('sk-1')
  await take('api-key')
  await press(visitor, 'Connect')
  await screen(visitor, 'Acme Mail is connected')
  await take('done')
  await page.goto(await stage.manageLink())
  await screen(visitor, 'Your connected accounts')
  await page.getByRole('button', { name: 'Disconnect Acme Mail' }).click()
  await take('manage')
  await page.goto(`/connect/#t=vct_${'A'.repeat(43)}`)
  await screen(visitor, 'This link is not complete')
  await take('end')
}
