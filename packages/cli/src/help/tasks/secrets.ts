/** Tasks with secrets, environments and approvals. */
export const secrets = [
  {
    title: 'Write and read a secret',
    words: 'set get add create store save show print value variable password update change put kv',
    steps: [
      ['skerry secrets set DATABASE_URL', 'Ask for a value and write it'],
      ['skerry secrets get DATABASE_URL --reveal', 'Show the value'],
      ['skerry secrets ls', 'List all names'],
    ],
    document: 'docs/command-line/secrets.md',
  },
  {
    title: 'Run a program with secrets',
    words: 'start inject exec execute environment variables process env command npm node python shell',
    steps: [
      ['skerry run -- npm start', 'Start a program with the secrets of this folder'],
      ['skerry run --env staging -- npm test', 'Use another environment'],
      ['skerry shell', 'Start a shell with the secrets'],
    ],
    document: 'docs/command-line/run.md#which-values-a-program-gets',
  },
  {
    title: 'Import a .env file',
    words: 'upload load dotenv file json yaml migrate read push envfile',
    steps: [
      ['skerry secrets import .env --dry-run', 'Show what would be written'],
      ['skerry secrets import .env', 'Write the values'],
      ['rm .env', 'Delete the file, which is no longer needed'],
    ],
    document: 'docs/command-line/files.md#import-a-file',
  },
  {
    title: 'Export a .env file',
    words: 'download dump save pull dotenv file json yaml shell format print all',
    steps: [
      ['skerry secrets export --out .env', 'Write a file that only you can read'],
      ['skerry secrets export --env production --format json --out all.json', 'Choose another format'],
    ],
    document: 'docs/command-line/files.md#export-to-a-file',
  },
  {
    title: 'Edit several secrets at once',
    words: 'editor vim bulk many change update multiple',
    steps: [
      ['skerry secrets edit', 'Edit all secrets of the environment in your editor'],
      ['skerry secrets edit DATABASE_URL REDIS_URL', 'Edit only these'],
    ],
    document: 'docs/command-line/secrets.md#editing',
  },
  {
    title: 'Fill a template file with secrets',
    words: 'substitute render inject config template envsubst nginx yaml placeholder consul-template',
    steps: [['skerry secrets substitute nginx.conf.tpl --out nginx.conf', 'Replace each ${NAME} in the template']],
    document: 'docs/command-line/references.md#fill-in-a-file',
  },
  {
    title: 'Build a value from other secrets',
    words: 'reference interpolation expand variable compose connection string url nested',
    steps: [
      ['skerry secrets set DATABASE_URL', 'Type for example postgres://app:${DB_PASSWORD}@db/shop'],
      ['skerry secrets get DATABASE_URL --reveal', 'Show the complete value'],
      ['skerry secrets get DATABASE_URL --stored --reveal', 'Show the stored text'],
    ],
    document: 'docs/command-line/references.md#references',
  },
  {
    title: 'Create a random value',
    words: 'generate generated password key token secret length random strong session cookie jwt',
    steps: [
      ['skerry secrets generate SESSION_KEY', 'Write a random value that nobody sees'],
      ['skerry secrets generate JWT_KEY --length 64 --overwrite', 'Replace a value with a longer one'],
    ],
    document: 'docs/command-line/secrets.md',
  },
  {
    title: 'See the history of a secret and restore a version',
    words: 'versions undo rollback revert old previous earlier who changed log mistake',
    steps: [
      ['skerry secrets history DATABASE_URL --reveal', 'List the versions with their values'],
      ['skerry secrets restore DATABASE_URL 3', 'Make version 3 the current one again'],
    ],
    document: 'docs/command-line/secrets.md#deleted-secrets',
  },
  {
    title: 'Say what a secret is for and when it expires',
    words: 'describe description tags owner expiry expire remind reminder note comment document not needed',
    steps: [
      ['skerry secrets describe STRIPE_KEY --description "Charges cards"', 'Note what it is for, encrypted'],
      ['skerry secrets describe STRIPE_KEY --owner ada@example.com --expires 2027-03-01', 'Remind somebody of a date'],
    ],
    document: 'docs/command-line/secrets.md#details-of-a-secret',
  },
  {
    title: 'Use a value of your own',
    words: 'override personal local mine only me myself developer laptop different value private',
    steps: [
      ['skerry secrets override DATABASE_URL', 'Store a value that only you can read'],
      ['skerry run -- npm start', 'Your program gets your value, others get the shared one'],
      ['skerry secrets overrides', 'List your values'],
      ['skerry secrets override DATABASE_URL --remove', 'Get the shared value again'],
    ],
    document: 'docs/command-line/personal.md',
  },
  {
    title: 'Bring back a deleted secret',
    words: 'undelete undo deleted removed lost trash recycle bin recover restore rm',
    steps: [
      ['skerry secrets deleted', 'List the deleted secrets'],
      ['skerry secrets restore OLD_API_KEY', 'Bring one back with its versions'],
    ],
    document: 'docs/command-line/secrets.md#deleted-secrets',
  },
  {
    title: 'Compare two environments',
    words: 'diff difference missing staging production drift changes between',
    steps: [
      ['skerry secrets diff staging production', 'Show which names differ'],
      ['skerry secrets diff staging production --reveal', 'Show the values, too'],
      ['skerry secrets diff staging production --exit-code', 'Exit with 1 in a script if they differ'],
    ],
    document: 'docs/command-line/files.md#export-to-a-file',
  },
  {
    title: 'Copy secrets to another environment',
    words: 'clone promote duplicate move transfer staging production sync between',
    steps: [
      ['skerry secrets diff staging production', 'Show what is missing'],
      ['skerry secrets copy STRIPE_KEY SMTP_URL --env staging --to production', 'Copy two secrets'],
    ],
    document: 'docs/command-line/secrets.md#copying',
  },
  {
    title: 'Create an environment',
    words: 'staging production development test new stage config add',
    steps: [
      ['skerry env create production', 'Create an environment of this folder’s application'],
      ['skerry secrets import .env.production --env production', 'Write its secrets'],
      ['skerry grant bob@example.com --env production', 'Let a member read it'],
    ],
    document: 'docs/glossary.md#where-secrets-are',
  },
  {
    title: 'Create a group of secrets that applications share',
    words:
      'groups shared common global inherit reuse several apps between monorepo compose composition folder link import',
    steps: [
      ['skerry group create shared', 'Create a group'],
      ['skerry env create production --group shared', 'Create an environment of the group'],
      ['skerry secrets set SMTP_URL --group shared --env production', 'Write a secret of the group'],
      ['skerry compose set shared --app shop --env production --grant', 'Add the group to an application'],
    ],
    document: 'docs/command-line/groups.md',
  },
  {
    title: 'Give a preview deployment its own secrets',
    words: 'branch branches pull request preview review app feature override personal temporary fork pr',
    steps: [
      ['skerry branch create pr-42 --env staging --ttl 7d', 'Create a branch of staging'],
      ['skerry secrets set DATABASE_URL --env staging --branch pr-42', 'Override one value in it'],
      ['skerry run --env staging --branch pr-42 -- npm start', 'Run with the values of the branch'],
      ['skerry branch rm pr-42 --env staging', 'Delete it before it expires'],
    ],
    document: 'docs/glossary.md#where-secrets-are',
  },
  {
    title: 'Protect production with the approval of a second person',
    words:
      'who can may review approve approver approval second person two-person two change request four eyes policy protected environment workflow governance',
    steps: [
      ['skerry env protect production --approvals 1', 'Require one approval for each change'],
      ['skerry secrets set DATABASE_URL --env production --note "new cluster"', 'Propose a change'],
      ['skerry changes ls', 'List the changes that wait, as an admin'],
      ['skerry changes show chg_7Kq2mXw4RtB9vLs1NdYf3c --reveal', 'Compare the values'],
      ['skerry changes approve chg_7Kq2mXw4RtB9vLs1NdYf3c', 'Approve it'],
    ],
    document: 'docs/command-line/changes.md',
  },
  {
    title: 'Change a protected environment in an emergency',
    words: 'urgent incident break glass bypass approval override outage hotfix alone unprotect',
    steps: [
      ['skerry env unprotect production', 'End the protection, which admins are told by mail'],
      ['skerry secrets set DATABASE_URL --env production', 'Write the value'],
      ['skerry env protect production', 'Require approvals again'],
      ['skerry audit ls --since 1h', 'Check what was recorded'],
    ],
    document: 'docs/command-line/changes.md#protection',
  },
  {
    title: 'Work without the server',
    words: 'offline outage network cache away plane unavailable unreachable fallback down',
    steps: [
      ['skerry run --offline -- npm start', 'Use the copy of the last run'],
      ['skerry run --max-age 12h -- npm start', 'Accept a copy of up to 12 hours in an outage'],
    ],
    document: 'docs/command-line/run.md#without-the-server',
  },
  {
    title: 'Resolve a conflict',
    words:
      'conflicts conflicting 409 5 changed meantime meanwhile concurrent same time somebody else overwrite version merge',
    steps: [
      ['skerry secrets history DATABASE_URL', 'See who changed the secret, and when'],
      ['skerry secrets get DATABASE_URL --reveal', 'See the value of now'],
      ['skerry secrets set DATABASE_URL --expected-version 5', 'Write, only if version 5 is still the current one'],
    ],
    document: 'docs/command-line/secrets.md#conflicts',
  },
] as const
