import fs, { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readCredentials } from '../src/credentials.ts'
import { describe, Failure } from '../src/failure.ts'

const folder = mkdtempSync(join(tmpdir(), 'skerry-credentials-'))
// The user who runs the tests owns the files that they write, and root may change every mode. The refusal is therefore
// simulated.
beforeEach(() => {
  vi.spyOn(fs, 'chmodSync').mockImplementation(() => {
    throw Object.assign(new Error('EPERM: operation not permitted, chmod'), { code: 'EPERM' })
  })
  syncBuiltinESMExports()
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

it('the CLI refuses a credentials file that others can read and this user cannot close, and says what to do', () => {
  vi.stubEnv('XDG_CONFIG_HOME', folder)
  mkdirSync(join(folder, 'skerry'))
  writeFileSync(join(folder, 'skerry', 'credentials.json'), '{"version":1,"current":null,"profiles":{}}', {
    mode: 0o644,
  })
  expect(refusal()).toContain('and you cannot change its mode')
  expect(refusal()).toContain('mode to 0600')
})

function refusal(): string {
  try {
    return JSON.stringify(readCredentials())
  } catch (error) {
    return error instanceof Failure ? describe(error) : String(error)
  }
}
