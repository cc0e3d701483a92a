/** Examples of applications, environments, branches and groups. */
export const places = {
  app: [
    ['skerry app ls', 'List the applications of the organization'],
    ['skerry app create shop', 'Create an application'],
  ],
  'app ls': [
    ['skerry app ls', 'List the applications of the organization'],
    ['skerry app ls --org acme --json', 'Print the applications of Acme as JSON'],
  ],
  'app create': [
    ['skerry app create shop', 'Create an application'],
    ['skerry app create shop --name "Web shop"', 'Create an application with a display name'],
  ],
  'app show': [
    ['skerry app show shop', 'Show an application and its environments'],
    ['skerry app show shop --json', 'Print the application as JSON'],
  ],
  'app rename': [
    ['skerry app rename shop "Web shop"', 'Change the display name of an application'],
    ['skerry app rename billing "Invoices" --org acme', 'Rename an application of another organization'],
  ],
  'app rm': [
    ['skerry app rm old-shop', 'Delete an application after a question'],
    ['skerry app rm old-shop --yes', 'Delete an application without a question'],
  ],
  env: [
    ['skerry env ls', 'List the environments of this folder’s application'],
    ['skerry env create production', 'Create an environment'],
  ],
  'env ls': [
    ['skerry env ls --app shop', 'List the environments of an application'],
    ['skerry env ls --group shared', 'List the environments of a group'],
  ],
  'env create': [
    ['skerry env create production', 'Create an environment of this folder’s application'],
    ['skerry env create production --group shared', 'Create an environment of a group'],
  ],
  'env show': [
    ['skerry env show production', 'Show groups, branches, protection and readers'],
    ['skerry env show production --group shared', 'Show an environment of a group'],
  ],
  'env readers': [
    ['skerry env readers production', 'List who can read production, and since when'],
    ['skerry env readers production --branch pr-42 --json', 'Print the readers of a branch as JSON'],
  ],
  'env rename': [
    ['skerry env rename production "Live"', 'Change the display name of an environment'],
    ['skerry env rename staging "Test" --app shop', 'Rename an environment of another application'],
  ],
  'env protect': [
    ['skerry env protect production', 'Require one approval for each change'],
    ['skerry env protect production --approvals 2', 'Require two approvals for each change'],
  ],
  'env unprotect': [
    ['skerry env unprotect staging', 'Apply changes without approval again'],
    ['skerry env unprotect production --app shop', 'End the protection of another application’s environment'],
  ],
  'env rekey': [
    ['skerry env rekey production', 'Replace the key after someone lost access'],
    ['skerry env rekey production --drop-readers', 'Replace the key and exclude rotation and sync'],
  ],
  'env trust': [
    ['skerry env trust production', 'Accept a replaced key after you asked who replaced it'],
    ['skerry env trust production --with shared=staging', 'Check an environment with another environment of a group'],
  ],
  'env rm': [
    ['skerry env rm staging', 'Delete an environment with its secrets and branches'],
    ['skerry env rm staging --app shop --yes', 'Delete it without a question'],
  ],
  branch: [
    ['skerry branch create pr-42 --env staging', 'Create a branch of staging for a pull request'],
    ['skerry branch ls', 'List the branches of the application'],
  ],
  'branch ls': [
    ['skerry branch ls', 'List the branches of the application'],
    ['skerry branch ls --env staging', 'List the branches of one environment'],
  ],
  'branch create': [
    ['skerry branch create pr-42', 'Create a branch that expires after 7 days'],
    ['skerry branch create pr-42 --env staging --ttl 24h', 'Create a branch of staging for one day'],
  ],
  'branch show': [
    ['skerry branch show pr-42', 'Show when a branch expires'],
    ['skerry branch show pr-42 --env staging --json', 'Print a branch of staging as JSON'],
  ],
  'branch rm': [
    ['skerry branch rm pr-42', 'Delete a branch with its values'],
    ['skerry branch rm pr-42 --env staging --yes', 'Delete a branch of staging without a question'],
  ],
  group: [
    ['skerry group create shared', 'Create a group for secrets that applications share'],
    ['skerry group ls', 'List the groups of the organization'],
  ],
  'group ls': [
    ['skerry group ls', 'List the groups of the organization'],
    ['skerry group ls --json', 'Print the groups as JSON'],
  ],
  'group create': [
    ['skerry group create shared', 'Create a group'],
    ['skerry group create smtp --name "Mail server"', 'Create a group with a display name'],
  ],
  'group show': [
    ['skerry group show shared', 'Show a group and its environments'],
    ['skerry group show shared --json', 'Print the group as JSON'],
  ],
  'group rename': [
    ['skerry group rename shared "Common secrets"', 'Change the display name of a group'],
    ['skerry group rename smtp "Mail server" --org acme', 'Rename a group of another organization'],
  ],
  'group rm': [
    ['skerry group rm smtp', 'Delete a group after a question'],
    ['skerry group rm smtp --yes', 'Delete a group without a question'],
  ],
  compose: [
    ['skerry compose ls --env production', 'List the groups of an environment'],
    ['skerry compose set shared --env production', 'Add a group to production'],
  ],
  'compose ls': [
    ['skerry compose ls', 'List the groups of this folder’s environment'],
    ['skerry compose ls --app shop --env production', 'List the groups of production'],
  ],
  'compose set': [
    ['skerry compose set shared --env production', 'Add a group to production'],
    ['skerry compose set shared --env production --grant', 'Add a group and give its key to all readers'],
  ],
  'compose rm': [
    ['skerry compose rm shared', 'Remove a group from this folder’s environment'],
    ['skerry compose rm shared --env production --yes', 'Remove a group from production without a question'],
  ],
} as const
