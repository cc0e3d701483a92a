import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Suites load the same libraries: compiled once.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'skerry-test-compiled')

// What drives processes, databases and browsers gets a second try in CI, where other work slows the machine down. The list
// of tests marks it with `retry x1`: something to look into, since it was a race in the product more often than not.
const retry = process.env.SKERRY_REQUIRE_SERVICES === '1' ? 1 : 0

// Each suite has a world of its own. Their process is not: loading the server anew for each would take half of the time.
const server = {
  include: ['packages/server/src/**/*.test.ts', 'packages/server/test/**/*.test.ts'],
  isolate: false,
  testTimeout: 20_000,
  hookTimeout: 60_000,
  retry,
}
// Suites of the storage layer run both engines themselves.
const storage = ['packages/server/src/db/**/*.test.ts', 'packages/server/test/services/**/*.test.ts']

// A browser on a busy machine takes its time.
const browser = { testTimeout: 60_000, hookTimeout: 60_000, retry, expect: { poll: { timeout: 20_000 } } }

// What says nothing of a database: looks, accessibility, speed, how files are served.
const looks = ['entrance', 'matrix-size', 'pages', 'screenshots', 'serving', 'sign-in-time'].map(
  (name) => `packages/dashboard/test/${name}.test.ts`,
)

// What people do must not depend on who signs them in: once more with Skerry itself, and with a real provider.
const people = ['me', 'orgs', 'envs', 'grants', 'resolve'].map(
  (name) => `packages/server/src/features/${name}/*.test.ts`,
)

// Their people bring claims about second factors, which the issuer of tests makes.
const claims = '**/mfa-policy.test.ts'

export default defineConfig({
  test: {
    pool: 'forks',
    // Suites wait for disks, browsers and processes: three at a time even where there are but two cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      {
        test: {
          name: 'clients',
          include: ['packages/{contract,crypto,sdk,providers}/**/*.test.ts', 'scripts/**/*.test.ts'],
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
          ...server,
          name: 'built-in',
          include: people,
          exclude: [claims],
          globalSetup: ['packages/server/test/setup-built-in.ts'],
        },
      },
      {
        test: {
          ...server,
          name: 'provider',
          include: people,
          // Moves the clock by days, and a real provider has one of its own.
          exclude: ['**/invites.test.ts', claims],
          globalSetup: ['packages/server/test/setup-provider.ts'],
        },
      },
      {
        test: {
          name: 'cli',
          include: ['packages/cli/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          retry,
          globalSetup: ['packages/server/test/setup-embedded.ts'],
        },
      },
      {
        test: {
          ...browser,
          name: 'browser',
          include: ['packages/dashboard/test/**/*.test.ts'],
          globalSetup: ['packages/dashboard/test/setup.ts'],
        },
      },
      {
        test: {
          ...browser,
          name: 'browser-postgres',
          include: ['packages/dashboard/test/**/*.test.ts'],
          exclude: looks,
          globalSetup: ['packages/dashboard/test/setup-postgres.ts'],
        },
      },
      {
        test: {
          name: 'cli-postgres',
          include: ['packages/cli/test/journey.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          retry,
          globalSetup: ['packages/server/test/setup-postgres.ts'],
        },
      },
    ],
  },
})
