import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { checkVariables } from '../src/variables.ts'

it('the command accepts the settings of the server in its environment', () => {
  const settings = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8').match(
    /SKERRY_[A-Z_]+\w/g,
  )!
  expect(settings.length).toBeGreaterThan(10)
  expect(() => checkVariables(Object.fromEntries(settings.map((name) => [name, 'x'])))).not.toThrow()
})
