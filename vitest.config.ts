import { globSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { isQuick } from './packages/server/test/extent.ts'
import { TotalsReporter } from './scripts/test-reporter.ts'

// Suites load the same libraries: compiled once.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'skerry-test-compiled')

const totalsFile = process.env.SKERRY_TEST_TOTALS

/**
 * An embedded database has 128 MB of memory outside of V8's heap. Without these flags, V8 collects all garbage after each
 * start of one, which takes 0.4 s in the heap of a worker: twice as long as the start itself.
 */
const collectSeldom = ['--external-memory-accounted-in-global-limit', '--initial-heap-size=1500']

/** V8 compiles the SQL grammar of PGlite twice. The second time takes 2 s, and pays off only after dozens of suites. */
const compileOnce = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']

/** Time to fail, not to wait: a machine that has other things to do passes, only later. */
const patient = { testTimeout: 400_000, hookTimeout: 500_000, expect: { poll: { timeout: 60_000 } } }

const server = ['packages/server/src/**/*.test.ts', 'packages/server/test/**/*.test.ts']
// These run both engines themselves.
const storage = ['packages/server/src/db/**/*.test.ts', 'packages/server/test/{failover,services}/**/*.test.ts']

/** Suites of the things that an engine can get wrong by itself: transactions that meet, its absence, its catalog, its order, its jobs. */
const engineSuites = [
  ...['catalog', 'database-down', 'exchanged', 'freshness', 'hostile/neighbours', 'hostile/rates', 'starting'].map(
    (name) => `packages/server/test/${name}.test.ts`,
  ),
  'packages/server/src/**/*races.test.ts',
  ...['lists', 'deleted-meanwhile'].map((name) => `packages/server/src/http/${name}.test.ts`),
  ...['audit/search', 'cli-login/guesses', 'secrets/batch'].map(
    (name) => `packages/server/src/features/${name}.test.ts`,
  ),
  'packages/server/src/identity/server-key-at-start.test.ts',
  'packages/server/src/jobs/queue.test.ts',
]

// What people do must not depend on who signs them in: once more with Skerry itself, and with a real provider.
const people = ['me', 'orgs', 'members', 'envs', 'rekey', 'grants', 'resolve'].map(
  (name) => `packages/server/src/features/${name}/*.test.ts`,
)
// Their people sign in by the issuer of tests, which makes claims about second factors.
const claims = ['mfa-policy', 'me/cli-session-bearers', 'me/keys-factor', 'me/recovery-kit'].map(
  (name) => `**/${name}.test.ts`,
)
// Suites that move the clock past the ten minutes that the bearer of a session is valid.
const outlasting = ['ended', 'temporary'].map((name) => `packages/server/src/features/grants/${name}.test.ts`)

const browser = ['packages/{dashboard,connect}/test/**/*.test.ts']
// What says nothing of a database: looks, accessibility, speed, how files are served.
const looks = ['entrance', 'matrix-size', 'pages', 'proxy-approvals', 'screenshots', 'serving', 'sign-in-time'].map(
  (name) => `packages/dashboard/test/${name}.test.ts`,
)

/** The walks of people in their first ten minutes, and the promises that only a browser can keep. */
const quickWalks = ['entrance', 'flows', 'forms', 'serving', 'sign-in-time'].map(
  (name) => `packages/dashboard/test/${name}.test.ts`,
)

/** Commands whose guarantees the suites of the server, the SDK or the proxy prove, and waits for servers and watches. */
const lateCommands = [
  'access',
  'audit',
  'audit-damage',
  'bound-token',
  'changes',
  'existing-files',
  'export',
  'find-by-name',
  'holdings',
  ...['kms', 'layers', 'members', 'names', 'other-names', 'renames', 'strangers', 'targets', 'words'].map(
    (name) => `hostile/${name}`,
  ),
  'examples',
  'integrations',
  'kms',
  'kms-gateway',
  'leases',
  'mcp',
  'mistyped',
  'next-steps',
  'offboard',
  'offboarding',
  'older-server',
  'outliving-leases',
  'overrides',
  'plan',
  'provisioner',
  'proxy-sdks',
  'rekey-readers',
  'run-choice',
  'run-mount',
  'run-streams',
  'run-watch',
  'secrets-edit',
  'serve',
  'serve-socket',
  'sign-in',
  'sync',
  'token-expired',
  'trouble',
  'trust',
  'trust-edits',
  'trust-recovery',
  'trust-restored',
  'views',
  'wrong-arguments',
].map((name) => `packages/cli/test/${name}.test.ts`)

interface Row {
  name: string
  /** The suites, as globs. */
  include: string[]
  exclude?: string[]
  /** Those of them that are in `npm test`, as long as not all are. */
  quick?: string[]
  /** Those of them that are not in `npm test`. */
  late?: string[]
  /** Once before the first of them, a file in packages/. It says which engine they run on, and who signs people in. */
  setup?: string
  more?: TestProjectInlineConfiguration['test']
}

// Their process is not a world: loading the server anew for each suite would take half of the time.
const shared = { isolate: false }

/** Where each suite runs. A new one that lies beside its neighbours is in a row already. */
const rows: Row[] = [
  {
    name: 'clients',
    include: [
      'packages/{contract,crypto,sdk,providers,proxy}/**/*.test.ts',
      'packages/connect/app/**/*.test.ts',
      'scripts/**/*.test.ts',
    ],
    late: [
      'packages/providers/test/leases/mysql.test.ts',
      ...['executable', 'package', 'versions'].map((name) => `scripts/package/${name}.test.ts`),
    ],
    more: shared,
  },
  { name: 'storage', include: storage, late: ['packages/server/test/services/postgres.test.ts'] },
  {
    name: 'embedded',
    include: server,
    exclude: storage,
    late: ['packages/server/src/features/rotation/load.test.ts'],
    setup: 'server/test/setup-embedded.ts',
    more: shared,
  },
  {
    name: 'postgres',
    include: server,
    // The database has no part in what targets of leases send.
    exclude: [...storage, 'packages/server/test/hostile/mutated-targets.long.test.ts'],
    quick: engineSuites,
    setup: 'server/test/setup-postgres.ts',
    more: shared,
  },
  {
    name: 'built-in',
    include: people,
    exclude: [...claims, ...outlasting],
    quick: [],
    setup: 'server/test/setup-built-in.ts',
    more: shared,
  },
  {
    name: 'provider',
    include: people,
    // Moves the clock by days, and a real provider has one of its own.
    exclude: ['**/*invites.test.ts', ...claims, ...outlasting],
    quick: [],
    setup: 'server/test/setup-provider.ts',
    more: shared,
  },
  {
    name: 'cli',
    include: ['packages/cli/**/*.test.ts'],
    // They wait for servers and watches, or show on the command line what suites of the server show.
    late: lateCommands,
    setup: 'cli/test/setup.ts',
    more: shared,
  },
  {
    name: 'cli-postgres',
    include: ['packages/cli/test/journey.test.ts'],
    quick: [],
    setup: 'server/test/setup-postgres.ts',
    more: shared,
  },
  {
    name: 'executor',
    include: ['packages/executor/**/*.test.ts'],
    // How it is set up seldom changes.
    late: ['browser', 'commands', 'published'].map((name) => `packages/executor/test/${name}.test.ts`),
    setup: 'server/test/setup-embedded.ts',
    more: { ...shared, execArgv: [...collectSeldom, ...compileOnce] },
  },
  {
    name: 'browser',
    include: [...browser, 'examples/**/*.test.ts'],
    quick: [...quickWalks, 'packages/connect/test/*.test.ts'],
    setup: 'dashboard/test/setup.ts',
    more: shared,
  },
  {
    name: 'site',
    include: ['packages/site/**/*.test.ts'],
    late: ['packages/site/test/browser.test.ts'],
    setup: 'site/test/setup.ts',
    more: shared,
  },
  {
    name: 'browser-postgres',
    include: browser,
    exclude: [...looks, 'packages/connect/**'],
    quick: [],
    setup: 'dashboard/test/setup-postgres.ts',
    more: shared,
  },
]

// A suite that was renamed would leave `npm test`, or come back into it, in silence.
for (const path of rows.flatMap(({ quick = [], late = [] }) => [...quick, ...late]))
  if (globSync(path).length === 0) throw new Error(`vitest.config.ts: ${path} matches no suite`)

export default defineConfig({
  test: {
    pool: 'forks',
    // Suites wait for disks, browsers and processes half of their time: four at a time even where there are but two cores.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    reporters: ['default', ...(totalsFile === undefined ? [] : [new TotalsReporter(totalsFile)])],
    projects: rows.filter(({ quick }) => !isQuick || quick?.length !== 0).map(project),
  },
})

function project({
  name,
  include,
  exclude = [],
  quick = include,
  late = [],
  setup,
  more,
}: Row): TestProjectInlineConfiguration {
  return {
    test: {
      ...patient,
      execArgv: collectSeldom,
      ...more,
      name,
      include: isQuick ? quick : include,
      // What they wait for takes its time.
      exclude: isQuick ? [...exclude, ...late, '**/*.long.test.ts'] : exclude,
      globalSetup: setup === undefined ? [] : [`packages/${setup}`],
    },
  }
}
