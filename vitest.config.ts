import { defineConfig } from 'vitest/config'

const server = {
  include: ['packages/server/src/**/*.test.ts', 'packages/server/test/**/*.test.ts'],
  testTimeout: 20_000,
  hookTimeout: 60_000,
}
// Suites of the storage layer run both engines themselves.
const storage = ['packages/server/src/db/**/*.test.ts', 'packages/server/test/services/**/*.test.ts']

export default defineConfig({
  test: {
    pool: 'forks',
    projects: [
      {
        test: {
          name: 'clients',
          include: ['packages/{contract,crypto,sdk}/**/*.test.ts', 'scripts/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      { test: { name: 'storage', include: storage, testTimeout: 60_000, hookTimeout: 60_000 } },
      {
        test: {
          ...server,
          name: 'embedded',
          exclude: storage,
          globalSetup: ['packages/server/test/setup-embedded.ts'],
        },
      },
      {
        test: {
          ...server,
          name: 'postgres',
          exclude: storage,
          globalSetup: ['packages/server/test/setup-postgres.ts'],
        },
      },
      {
        test: {
          name: 'cli',
          include: ['packages/cli/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          globalSetup: ['packages/server/test/setup-embedded.ts'],
        },
      },
      {
        test: {
          name: 'cli-postgres',
          include: ['packages/cli/test/journey.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          globalSetup: ['packages/server/test/setup-postgres.ts'],
        },
      },
    ],
  },
})
