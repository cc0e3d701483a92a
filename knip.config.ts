import type { KnipConfig } from 'knip'
import sdk from './packages/sdk/package.json' with { type: 'json' }

/** Files that somebody outside of this repository imports, or a program that knip cannot follow. */
const usedOutside = (...files: string[]) =>
  Object.fromEntries(files.map((file) => [file, ['exports', 'types'] as const]))

const { './internal/*': _, ...publicModules } = sdk.exports

export default {
  ignoreBinaries: [
    ...['dpkg-deb', 'haproxy', 'kubectl', 'lintian', 'man', 'mandoc', 'mkfifo', 'mount', 'openssl'],
    ...['systemd-analyze', 'systemd-notify', 'umount', 'unshare'],
  ],
  // Entries are imported inside of this repository alone, so their exports are checked as all others are.
  includeEntryExports: true,
  // Examples in documents use these names.
  ignoreIssues: usedOutside('scripts/doc-examples/names.ts'),
  workspaces: {
    '.': {
      entry: ['scripts/*.ts', 'scripts/doc-examples/names.ts'],
      project: ['scripts/**/*.ts'],
    },
    'packages/contract': {
      entry: ['src/*.ts'],
      project: ['src/**/*.ts'],
    },
    'packages/crypto': {
      entry: ['src/*.ts'],
      project: ['src/**/*.ts'],
    },
    'packages/providers': {
      entry: ['src/*.ts', 'src/*/registry.ts', 'src/*/provider.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
    },
    'packages/sdk': {
      entry: ['src/*.ts', 'src/node/*.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
      ignoreIssues: usedOutside(...Object.values(publicModules).map((path) => path.replace('./', ''))),
    },
    'packages/proxy': {
      entry: ['src/*.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
    },
    'packages/executor': {
      project: ['src/**/*.ts', 'test/**/*.ts'],
      // What a `vault.config.ts` imports.
      ignoreIssues: usedOutside('src/config/define.ts'),
    },
    'packages/cli': {
      entry: [
        'src/commands/*.ts',
        'src/executable/*.{ts,cjs}',
        'src/keyring/agent-process.js',
        'src/provisioner/adapter-process.js',
        'test/warm-host.ts',
      ],
      project: ['src/**/*.ts', 'test/**/*.ts'],
      // The build of the executable puts it in the place of a library.
      ignoreIssues: usedOutside('src/executable/keyring.ts'),
    },
    'packages/server': {
      entry: ['test/setup-*.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
      // vitest calls `setup`.
      ignoreIssues: usedOutside('test/setup-*.ts'),
    },
    'packages/dashboard': {
      entry: ['app/routes/**/*.tsx', 'app/worker/worker.ts'],
      project: ['app/**/*.{ts,tsx}', 'test/**/*.ts'],
      // The router's generator writes it.
      ignoreIssues: usedOutside('app/routes.gen.ts'),
    },
    'packages/connect': {
      project: ['app/**/*.{ts,tsx}', 'test/**/*.ts'],
    },
    'packages/site': {
      entry: ['src/client/site.ts', 'test/setup.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
      // vitest calls `setup`.
      ignoreIssues: usedOutside('test/setup.ts'),
    },
    'examples/vault-quickstart': {
      entry: ['main.ts', 'vault.config.ts'],
      project: ['**/*.ts'],
      // The executor reads it.
      ignoreIssues: usedOutside('vault.config.ts'),
    },
    bench: {
      entry: ['src/load.ts', 'src/floors/*.ts'],
      project: ['src/**/*.ts'],
    },
  },
} satisfies KnipConfig
