import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// The frame opens the session of a command and decides between JSON and text (src/frame.ts). Both lists may only
// shrink.

const sources = fileURLToPath(new URL('../src', import.meta.url))

const filesWith = (pattern: RegExp): string[] =>
  globSync('**/*.ts', { cwd: sources })
    .filter((file) => pattern.test(readFileSync(join(sources, file), 'utf8')))
    .sort()

test('only the frame, and commands without a frame, open a session', () => {
  expect(filesWith(/\bopenSession\(/)).toEqual([
    // Tries the credential, as one of several checks.
    'checks.ts',
    // A completion that fails completes nothing.
    'completion-values.ts',
    'frame.ts',
    'proxy/run.ts',
    // Needs a session only with --agent.
    'proxy/settings.ts',
    // Asks with the other stored credentials which of them can read.
    'reading-profile.ts',
    'run/prepare.ts',
    // Opens it once, before it answers others.
    'serve/serve.ts',
    'session.ts',
    // Needs a session only without --request.
    'tokens/register.ts',
  ])
})

test('only the frame, and commands that write while they work, read --json', () => {
  expect(filesWith(/\bflags\.json\b/)).toEqual([
    // Writes each event while it follows.
    'activity/activity.ts',
    // Shows the rules before it asks whether to sign them.
    'agents/policies.ts',
    'commands/audit.ts',
    'commands/doctor.ts',
    'commands/login.ts',
    'commands/signup.ts',
    // Refuse --json where it contradicts other options.
    'export/download.ts',
    'keyring/kit.ts',
    'run/prepare.ts',
    'secrets/export.ts',
    'sync/connections.ts',
  ])
})
