import { expect, test } from 'vitest'
import { openStage } from './walk.ts'

const { arrive } = await openStage()

test('whoever is not signed in is led to the sign-in', async () => {
  const visitor = await arrive()
  await visitor.page.goto('/account/cli-sessions')
  await visitor.page.waitForURL('**/sign-in?*')
  expect(new URL(visitor.page.url()).searchParams.get('returnTo')).toBe('/account/cli-sessions')
  await visitor.close()
})
