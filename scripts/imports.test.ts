import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** File -> its imports, with `type` if it needs only types. Every imported file exists. */
const tree: Record<string, string[]> = {
  'packages/contract/src/a.ts': [],
  'packages/executor/src/executor.ts': ['type ./leases.ts'],
  'packages/executor/src/leases.ts': ['type ./executor.ts'],
  'packages/crypto/src/wrap.ts': [],
  'packages/sdk/src/skerry.ts': [],
  'packages/providers/src/outbound.ts': ['node:net', 'node:tls'],
  'packages/server/src/keys/keypairs.ts': ['../../../crypto/src/wrap.ts', '../../../contract/src/a.ts'],
  'packages/server/src/keys/slip.ts': ['../../../sdk/src/skerry.ts'],
  'packages/server/src/features/leases/targets.ts': ['../../keys/keypairs.ts', '../../../../providers/src/outbound.ts'],
  'packages/server/src/features/leases/slip.ts': ['../../../../crypto/src/wrap.ts', 'node:https', 'node:dns/promises'],
  'packages/server/src/features/orgs/store.ts': [],
  'packages/server/src/features/export/restore.ts': [],
  'packages/server/src/features/vault/urls.ts': [],
  'packages/server/src/features/vault/connect/store.ts': ['../urls.ts'],
  'packages/server/src/features/vault/connect/session-store.ts': [],
  'packages/server/src/features/vault/executor/sessions.ts': ['../connect/session-store.ts'],
  'packages/server/src/features/orgs/slip.ts': ['../vault/connect/store.ts', '../vault/connect/session-store.ts'],
  'packages/server/src/features/vault/connect/slip.ts': ['../../orgs/store.ts', '../../export/restore.ts'],
  'packages/server/src/operator/org.ts': ['../features/orgs/slip.ts', '../features.ts'],
  'packages/server/src/operator/slip.ts': ['../features/vault/connect/store.ts', '../server.ts'],
  'packages/server/src/settings.ts': ['./features/vault/urls.ts'],
  'packages/server/src/server.ts': ['./features/vault/urls.ts'],
  'packages/server/src/features.ts': ['./features/vault/urls.ts'],
  'packages/server/src/features/vault/slip.ts': ['../../operator/org.ts', '../../server.ts', '../../features.ts'],
  'packages/server/src/outbound/exchange.ts': ['node:https', 'node:net'],
  'packages/server/src/outbound/slip.ts': ['../../../crypto/src/wrap.ts'],
}

test('the import rules refuse the forbidden imports and no others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-imports-'))
  try {
    for (const [file, imports] of Object.entries(tree)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      const lines = imports.map((name, index) =>
        name.startsWith('type ')
          ? `import type * as i${index} from '${name.slice(5)}'\nexport type e${index} = typeof i${index}`
          : `import * as i${index} from '${name}'\nexport const e${index} = i${index}`,
      )
      writeFileSync(join(folder, file), `${lines.join('\n')}\nexport {}\n`)
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      '{"compilerOptions":{"allowImportingTsExtensions":true,"noEmit":true}}',
    )
    const lines = await violations(folder)
    expect(lines).toEqual([
      'features-is-below: packages/server/src/features/vault/slip.ts → packages/server/src/operator/org.ts',
      'keys-need-crypto-alone: packages/server/src/keys/slip.ts → packages/sdk/src/skerry.ts',
      'no-cycles: packages/executor/src/executor.ts → packages/executor/src/leases.ts',
      'one-door-to-the-outside: packages/server/src/features/leases/slip.ts → dns/promises',
      'one-door-to-the-outside: packages/server/src/features/leases/slip.ts → https',
      'providers-are-given-the-outside: packages/providers/src/outbound.ts → net',
      'server-holds-no-keys: packages/server/src/features/leases/slip.ts → packages/crypto/src/wrap.ts',
      'server-holds-no-keys: packages/server/src/outbound/slip.ts → packages/crypto/src/wrap.ts',
      'settings-are-below: packages/server/src/settings.ts → packages/server/src/features/vault/urls.ts',
      'stores-are-private-to-features: packages/server/src/operator/slip.ts → packages/server/src/features/vault/connect/store.ts',
      'stores-are-private: packages/server/src/features/orgs/slip.ts → packages/server/src/features/vault/connect/session-store.ts',
      'stores-are-private: packages/server/src/features/orgs/slip.ts → packages/server/src/features/vault/connect/store.ts',
      'stores-are-private: packages/server/src/features/vault/connect/slip.ts → packages/server/src/features/orgs/store.ts',
      'the-list-is-above: packages/server/src/features/vault/slip.ts → packages/server/src/features.ts',
      'the-whole-is-above: packages/server/src/features/vault/slip.ts → packages/server/src/server.ts',
      'the-whole-is-above: packages/server/src/operator/slip.ts → packages/server/src/server.ts',
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function violations(cwd: string): Promise<string[]> {
  const program = join(root, 'node_modules/.bin/depcruise')
  const args = [program, '--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json', 'packages']
  return new Promise((resolve, reject) =>
    execFile(process.execPath, args, { cwd, maxBuffer: 1e7 }, (_, stdout, stderr) => {
      try {
        const { summary } = JSON.parse(stdout) as {
          summary: { violations: { rule: { name: string }; from: string; to: string }[] }
        }
        resolve(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort())
      } catch {
        reject(new Error(stderr))
      }
    }),
  )
}
