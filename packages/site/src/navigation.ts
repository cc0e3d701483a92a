/** A page in the navigation: its path in the repository, and its label unless that is the title of the page. */
type Row = readonly [path: string, label?: string]

/** A chapter with its pages. `others` adds the pages below a folder that no row names, in the order of their names. */
export interface ChapterRows {
  title: string
  rows: readonly Row[]
  others?: string
}

/** The chapter of documents that have no row yet. */
export const withoutRow = 'More'

/**
 * All documents, by reader and task. A document without a row is in the last chapter, and fails a test. Pages of the API
 * are made from the contract, and are below `docs/api/`.
 */
export const navigation: readonly ChapterRows[] = [
  {
    title: 'Start',
    rows: [
      ['docs/README.md', 'Overview'],
      ['docs/quick-start.md'],
      ['docs/concepts.md'],
      ['docs/people.md'],
      ['docs/first-week.md', 'The first week of a team'],
      ['docs/troubleshooting.md'],
      ['docs/glossary.md'],
    ],
  },
  {
    title: 'Guides',
    rows: [
      ['docs/guides/ci.md'],
      ['docs/guides/compose.md'],
      ['docs/guides/kubernetes.md'],
      ['docs/guides/express.md'],
      ['docs/guides/vite.md'],
      ['docs/guides/nextjs.md'],
      ['docs/guides/django.md'],
      ['docs/guides/leaked-token.md'],
      ['docs/guides/lost-machine.md'],
    ],
  },
  {
    title: 'Files to copy',
    rows: [
      ['docs/integrations.md', 'Overview'],
      ['integrations/github-action/README.md', 'GitHub Actions'],
      ['integrations/gitlab/README.md', 'GitLab CI/CD'],
      ['integrations/container/README.md', 'A container'],
      ['integrations/examples/docker-compose/README.md', 'Docker Compose'],
      ['integrations/examples/express/README.md', 'Express'],
      ['integrations/examples/vite/README.md', 'Vite'],
      ['integrations/examples/nextjs/README.md', 'Next.js'],
      ['integrations/examples/django/README.md', 'Django'],
    ],
  },
  {
    title: 'Move to Skerry',
    rows: [
      ['docs/migrate/dotenv.md', 'From .env files'],
      ['docs/migrate/doppler.md', 'From Doppler'],
      ['docs/migrate/infisical.md', 'From Infisical'],
      ['docs/migrate/vault.md', 'From HashiCorp Vault'],
    ],
  },
  {
    title: 'The command line',
    rows: [
      ['docs/command-line.md', 'Overview'],
      ['docs/command-line/start.md'],
      ['docs/command-line/run.md'],
      ['docs/command-line/secrets.md'],
      ['docs/command-line/references.md'],
      ['docs/command-line/files.md'],
      ['docs/command-line/groups.md'],
      ['docs/command-line/branches.md'],
      ['docs/command-line/personal.md'],
      ['docs/command-line/changes.md'],
      ['docs/command-line/access.md'],
      ['docs/command-line/leaving.md'],
      ['docs/command-line/directory.md'],
      ['docs/command-line/assistants.md'],
      ['docs/command-line/names.md'],
    ],
  },
  {
    title: 'Use secrets',
    rows: [
      ['docs/kms.md'],
      ['docs/kms-gateway.md'],
      ['docs/live.md'],
      ['docs/serve.md'],
      ['docs/agents.md', 'Agents'],
      ['docs/proxy.md', 'The proxy'],
      ['docs/proxy-settings.md', 'Settings of the proxy'],
      ['docs/vault.md'],
      ['docs/vault-backend.md', 'The vault in your backend'],
      ['docs/vault-webhooks.md'],
      ['docs/executor.md'],
      ['docs/executor-requests.md'],
      ['docs/executor-browser.md'],
      ['docs/vault-protocol.md'],
    ],
  },
  {
    title: 'Databases and platforms',
    rows: [
      ['docs/leases.md', 'Accounts that expire'],
      ['docs/leases/postgresql.md', 'PostgreSQL'],
      ['docs/leases/mysql.md', 'MySQL and MariaDB'],
      ['docs/leases/redis.md', 'Redis and Valkey'],
      ['docs/leases/mongodb.md', 'MongoDB'],
      ['docs/leases/ssh.md', 'SSH'],
      ['docs/leases/aws.md', 'AWS'],
      ['docs/leases/google-cloud.md', 'Google Cloud'],
      ['docs/leases/custom-levels.md', 'Your own statements'],
      ['docs/leases/own-network.md', 'A private network'],
      ['docs/rotation.md'],
      ['docs/sync.md'],
      ['docs/sync-destinations.md'],
    ],
  },
  {
    title: 'Run an organization',
    rows: [
      ['docs/teams.md'],
      ['docs/trust.md'],
      ['docs/recovery.md'],
      ['docs/audit.md'],
      ['docs/export.md'],
      ['docs/plans.md'],
    ],
  },
  {
    title: 'Run a server',
    rows: [
      ['docs/operations.md', 'Overview'],
      ['docs/releases.md', 'Packages'],
      ['docs/deploy.md'],
      ['docs/operations/people.md'],
      ['docs/operations/reverse-proxy.md'],
      ['docs/operations/mail.md'],
      ['docs/operations/postgresql.md'],
      ['docs/operations/several-servers.md'],
      ['docs/operations/backup.md'],
      ['docs/operations/running.md'],
      ['docs/operations/upgrade.md'],
      ['docs/operations/log.md'],
      ['docs/operations/server-key.md'],
      ['docs/operations/incidents.md'],
      ['docs/operations/commands.md'],
      ['docs/operations/limits.md'],
    ],
  },
  {
    title: 'Security',
    rows: [
      ['docs/threat-model.md'],
      ['docs/promises.md'],
      ['docs/verify.md'],
      ['docs/hostile-server.md'],
      ['docs/hostile.md'],
      ['docs/directory-format.md'],
      ['docs/kms-format.md'],
      ['SECURITY.md', 'Report a weakness'],
    ],
  },
  {
    title: 'Reference',
    rows: [
      ['docs/commands.md'],
      ['docs/settings.md'],
      ['packages/sdk/README.md', 'SDK'],
      ['docs/sdk-reference.md'],
      ['docs/api/README.md', 'API'],
      ['docs/performance.md'],
      ['CHANGELOG.md', 'Changes'],
    ],
  },
  { title: 'API by heading', rows: [], others: 'docs/api' },
  {
    title: 'Work on Skerry',
    rows: [
      ['ARCHITECTURE.md'],
      ['CONTRIBUTING.md'],
      ['docs/entities.md'],
      ['docs/suites.md'],
      ['docs/contributing/lease-target.md'],
      ['docs/contributing/sync-destination.md'],
      ['docs/contributing/sync-tests.md'],
      ['bench/README.md', 'Benchmarks'],
    ],
  },
  { title: 'Decisions', rows: [], others: 'docs/adr' },
  { title: withoutRow, rows: [], others: 'docs' },
]
