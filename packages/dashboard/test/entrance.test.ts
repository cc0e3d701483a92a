import { expect, test } from 'vitest'
import { elsewhere } from './browser.ts'
import { openScene } from './scene.ts'

const { arrive, world } = await openScene()

test('a visitor who is not signed in is redirected to the sign-in page', async () => {
  const visitor = await arrive()
  await visitor.page.goto('/account/cli-sessions')
  await visitor.page.waitForURL('**/sign-in?*')
  expect(new URL(visitor.page.url()).searchParams.get('returnTo')).toBe('/account/cli-sessions')
  await visitor.close()
})

test('over plain HTTP from another host, the page says why it cannot work and what to do', async () => {
  const visitor = await arrive()
  const { port } = new URL(world.url)
  for (const path of ['/', '/orgs/acme/apps']) {
    await visitor.page.goto(`http://${elsewhere}:${port}${path}`)
    await visitor.page.getByRole('heading', { name: 'This page needs HTTPS' }).waitFor()
    const text = await visitor.page.locator('#root').innerText()
    expect(text).toContain(`came from http://${elsewhere}:${port}`)
    expect(text).toContain(`ssh -L ${port}:localhost:${port} ${elsewhere}`)
    await visitor.quiet()
    expect(await visitor.page.getByRole('heading').count()).toBe(1)
  }
  await visitor.close()
})
