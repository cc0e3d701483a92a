import { expect, test } from 'vitest'
import { setUp } from '../../server/test/people.ts'
import { openScene } from './scene.ts'

// How soon a person can sign in. The suite prints the time and does not assert it: see SKERRY_SIGN_IN in
// packages/dashboard/README.md.

const rounds = Number(process.env.SKERRY_SIGN_IN ?? 1)

const { world, arrive } = await openScene()
await setUp(world)

test('the sign-in page accepts an address as soon as its field appears', async () => {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(await openOnce())
  const median = times.sort((a, b) => a - b)[times.length >> 1] as number
  const say = `typing works ${Math.round(median)} ms after navigation began, the median of ${rounds} with an empty cache`
  process.stdout.write(`sign-in page: ${say} (${times.map(Math.round).join(', ')})\n`)
})

/** Opens the page in a browser with an empty cache. Returns the time in milliseconds. */
async function openOnce(): Promise<number> {
  const { page, close } = await arrive()
  await page.addInitScript(noteFocus)
  await page.goto('/sign-in')
  const time = await page.waitForFunction(() => (globalThis as { focusedAt?: number }).focusedAt)
  await page.keyboard.type('ada@example.com')
  expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.com')
  const focusedAt = await time.jsonValue()
  await close()
  return focusedAt as number
}

/**
 * Runs in the page. Notes when a field first has the focus and so accepts typing, in milliseconds since navigation
 * began.
 */
function noteFocus() {
  const look = () => {
    if (document.activeElement instanceof HTMLInputElement)
      (globalThis as { focusedAt?: number }).focusedAt = performance.now()
    else requestAnimationFrame(look)
  }
  look()
}
