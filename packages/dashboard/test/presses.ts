import type { Page } from 'playwright-core'

/** Counts presses of a pointer on a page from now on. Events that a script makes are not trusted and not counted. */
export async function countPresses(on: Page): Promise<() => number> {
  let count = 0
  await on.exposeFunction('countPress', () => {
    count += 1
  })
  const listen = () => {
    const count = (globalThis as unknown as { countPress: () => void }).countPress
    addEventListener('pointerdown', (event) => event.isTrusted && count(), { capture: true })
  }
  await on.addInitScript(listen)
  await on.evaluate(listen)
  return () => count
}
