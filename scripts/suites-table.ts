import { globSync } from 'node:fs'
import { join } from 'node:path'
import { markdownTable } from './markdown-table.ts'
import { readSeconds } from './suite-seconds.ts'

/** A kind of change, and the suites that find most mistakes in it. */
interface Row {
  change: string
  /** Filters of Vitest: parts of paths. */
  filters: string[]
  projects: string[]
}

const rows: Row[] = [
  {
    change: 'an endpoint',
    filters: [
      'test/access-matrix',
      'test/audited',
      'test/bad-',
      'test/catalog',
      'packages/contract',
      'scripts/generated',
    ],
    projects: ['embedded', 'clients'],
  },
  {
    change: 'resolve (how clients get secrets), the cache',
    filters: ['features/resolve', 'test/freshness', 'test/exchanged', 'db/invalidations'],
    projects: ['embedded', 'postgres', 'storage'],
  },
  {
    change: 'writing secrets, change requests, re-keys',
    filters: ['features/secrets', 'features/changes', 'features/rekey'],
    projects: ['embedded', 'postgres'],
  },
  {
    change: 'grants, environments, groups',
    filters: ['features/grants', 'features/envs', 'features/groups', 'features/branches', 'test/hostile/bound'],
    projects: ['embedded', 'postgres'],
  },
  {
    change: 'leases',
    filters: [
      'features/leases',
      'providers/test/leases',
      'providers/test/children',
      'hostile/lease-targets',
      'cli/test/lease',
      'cli/test/provisioner',
      'cli/test/transcripts',
    ],
    projects: ['embedded', 'postgres', 'clients', 'cli'],
  },
  {
    change: 'rotation',
    filters: [
      'features/rotation',
      'providers/test/rotation',
      'crash/rotation',
      'rekey-readers',
      'cli/test/rotation',
      'cli/test/transcripts',
    ],
    projects: ['embedded', 'postgres', 'clients', 'cli'],
  },
  {
    change: 'sync',
    filters: [
      'features/sync',
      'contract/src/fields',
      'contract/src/vendors',
      'test/sync-destinations',
      'providers/test/sync',
      'crash/sync',
      'rekey-readers',
      'cli/test/sync',
      'cli/test/vendors',
      'cli/test/transcripts',
      'dashboard/test/sync',
    ],
    projects: ['embedded', 'postgres', 'clients', 'cli', 'browser'],
  },
  {
    change: 'the vault, the executor',
    filters: ['features/vault', 'packages/executor', 'packages/connect', 'crash/vault'],
    projects: ['embedded', 'postgres', 'executor', 'browser', 'clients'],
  },
  {
    change: 'sign-in, sessions, people',
    filters: ['features/sign-in', 'features/me', 'features/members', 'features/identity-links', 'src/identity'],
    projects: ['embedded', 'postgres', 'built-in', 'provider'],
  },
  {
    change: 'the audit log',
    filters: ['features/audit', 'kernel/audit', 'test/audited', 'cli/test/audit', 'cli/test/transcripts'],
    projects: ['embedded', 'postgres', 'cli'],
  },
  {
    change: 'export, restore',
    filters: ['features/export', 'test/restore', 'cli/test/export'],
    projects: ['embedded', 'cli'],
  },
  {
    change: 'the database, migrations',
    filters: ['src/db', 'test/catalog', 'test/crash', 'test/database-down', 'test/failover'],
    projects: ['storage', 'embedded', 'postgres'],
  },
  { change: 'cryptography, the SDK', filters: ['packages/crypto', 'packages/sdk'], projects: ['clients'] },
  { change: 'the proxy', filters: ['packages/proxy', 'cli/test/proxy'], projects: ['clients', 'cli'] },
  { change: 'the command line', filters: ['packages/cli'], projects: ['cli'] },
  { change: 'the dashboard', filters: ['packages/dashboard'], projects: ['browser'] },
  { change: 'documents, a generated file', filters: ['scripts/'], projects: ['clients'] },
]

/** The table of docs/suites.md. It adds up the seconds of the suites; two cores take about half of the sum. */
export function suitesTable(): string {
  const seconds = Object.entries(readSeconds())
  const cells = rows.map(({ change, filters, projects }) => {
    const chosen = seconds.filter(([name]) => {
      const [project = '', path = ''] = name.split('  ')
      return projects.includes(project) && filters.some((filter) => path.includes(filter))
    })
    const sum = chosen.reduce((total, [, taken]) => total + taken, 0)
    const command = ['npx vitest run', ...projects.map((project) => `--project ${project}`), ...filters].join(' ')
    return [change, String(Math.round(sum)), `\`${command}\``]
  })
  return markdownTable({ columns: ['You change', 'Seconds of the quick suites', 'Run'], rows: cells })
}

/** Filters that match no suite, which would run nothing in silence. */
export function findDeadFilters(): string[] {
  const root = join(import.meta.dirname, '..')
  const suites = globSync('{packages,scripts}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  })
  return rows.flatMap(({ filters }) => filters).filter((filter) => !suites.some((suite) => suite.includes(filter)))
}
