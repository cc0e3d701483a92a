import type { Command } from 'commander'

interface Row {
  name: string
  summary: string
  /** Other spellings, which work and are not shown. */
  aliases?: readonly string[]
  /** Left out of help and completion. */
  hidden?: true
  load: () => Promise<{ register: (command: Command) => void }>
}

/** A command. Its module is loaded only when the command is used. */
export interface CommandRow extends Row {
  /** The heading above the command in `skerry --help`. */
  group: string
}

/** Every command below its heading, in the order of `skerry --help`. */
const groups: Readonly<Record<string, readonly Row[]>> = {
  'Start:': [
    {
      name: 'signup',
      summary: 'Create an organization, and store its first token on this machine',
      load: () => import('./signup.ts'),
    },
    { name: 'login', summary: 'Sign in, or store a credential', load: () => import('./login.ts') },
    { name: 'logout', summary: 'Sign out, or delete a stored credential', load: () => import('./logout.ts') },
    { name: 'whoami', summary: 'Show who this machine is signed in as', load: () => import('./whoami.ts') },
    {
      name: 'init',
      summary: 'Create an application for this folder, and write skerry.json',
      load: () => import('./init.ts'),
    },
    {
      name: 'setup',
      summary: 'Choose the organization, application and environment of this folder',
      load: () => import('./setup.ts'),
    },
    {
      name: 'profile',
      summary: 'Credentials stored on this machine',
      aliases: ['profiles'],
      load: () => import('./profile.ts'),
    },
    { name: 'doctor', summary: 'Check for problems, and show how to fix them', load: () => import('./doctor.ts') },
    { name: 'open', summary: 'Open the environment in the dashboard', load: () => import('./open.ts') },
  ],
  'Secrets:': [
    { name: 'run', summary: 'Run a program with the secrets as environment variables', load: () => import('./run.ts') },
    {
      name: 'shell',
      summary: 'Start a shell with the secrets as environment variables',
      load: () => import('./shell.ts'),
    },
    {
      name: 'serve',
      summary: 'Serve the secrets to other programs, on a socket or a port',
      load: () => import('./serve.ts'),
    },
    { name: 'secrets', summary: 'Read and write secrets', aliases: ['secret'], load: () => import('./secrets.ts') },
    {
      name: 'changes',
      summary: 'Propose, review and approve changes of protected environments',
      aliases: ['change'],
      load: () => import('./changes.ts'),
    },
  ],
  'Applications and environments:': [
    { name: 'app', summary: 'Applications', aliases: ['apps'], load: () => import('./app.ts') },
    {
      name: 'env',
      summary: 'Environments of applications and groups',
      aliases: ['envs'],
      load: () => import('./env.ts'),
    },
    { name: 'branch', summary: 'Branches of environments', aliases: ['branches'], load: () => import('./branch.ts') },
    {
      name: 'group',
      summary: 'Groups: secrets that applications share',
      aliases: ['groups'],
      load: () => import('./group.ts'),
    },
    { name: 'compose', summary: 'Groups that an environment takes secrets from', load: () => import('./compose.ts') },
  ],
  'People, tokens and keys:': [
    {
      name: 'members',
      summary: 'Members of the organization: roles, keys, removal',
      aliases: ['member'],
      load: () => import('./members.ts'),
    },
    {
      name: 'invite',
      summary: 'Invitations to the organization',
      aliases: ['invites'],
      load: () => import('./invite.ts'),
    },
    {
      name: 'grant',
      summary: 'Let a person or a token read an environment',
      aliases: ['grants'],
      load: () => import('./grant.ts'),
    },
    {
      name: 'access',
      summary: 'Requests for access, and keys that are missing',
      load: () => import('./access.ts'),
    },
    {
      name: 'teams',
      summary: 'Teams: people who get the keys of the same environments',
      aliases: ['team'],
      load: () => import('./teams.ts'),
    },
    {
      name: 'token',
      summary: 'Service tokens: credentials of machines that read and write secrets',
      aliases: ['tokens'],
      load: () => import('./token.ts'),
    },
    {
      name: 'client',
      summary: 'Machine clients: credentials that manage and read no secrets',
      aliases: ['clients'],
      load: () => import('./client.ts'),
    },
    { name: 'honey', summary: 'Decoy tokens, which report whoever tries them', load: () => import('./honey.ts') },
    {
      name: 'sessions',
      summary: 'Command-line sessions of your account',
      aliases: ['session'],
      load: () => import('./sessions.ts'),
    },
    { name: 'keys', summary: 'Your keyring: the key that opens your secrets', load: () => import('./keys.ts') },
    {
      name: 'trust',
      summary: 'Signed directory: what other machines verify instead of believing the server',
      load: () => import('./trust.ts'),
    },
    {
      name: 'recovery',
      summary: 'Recovery of lost passphrases by several custodians',
      load: () => import('./recovery.ts'),
    },
  ],
  'Temporary and rotated credentials:': [
    {
      name: 'lease',
      summary: 'Temporary accounts on databases, hosts and clouds',
      aliases: ['leases'],
      load: () => import('./lease.ts'),
    },
    { name: 'ssh', summary: 'Sign in to a host with a temporary certificate', load: () => import('./ssh.ts') },
    {
      name: 'rotation',
      summary: 'Passwords and values that are replaced on a schedule',
      aliases: ['rotations'],
      load: () => import('./rotation.ts'),
    },
    {
      name: 'provisioner',
      summary: 'Create temporary accounts from inside your own network',
      load: () => import('./provisioner.ts'),
    },
  ],
  'Other platforms:': [
    { name: 'sync', summary: 'Push secrets to GitHub Actions, Vercel and others', load: () => import('./sync.ts') },
    { name: 'kms', summary: 'Managed keys: encrypt, decrypt, sign and verify', load: () => import('./kms.ts') },
    { name: 'vault', summary: 'Accounts that the users of your product connect', load: () => import('./vault.ts') },
  ],
  'Agents:': [
    {
      name: 'agent',
      summary: 'AI agents: their policies, tasks and activity',
      aliases: ['agents'],
      load: () => import('./agent.ts'),
    },
    { name: 'proxy', summary: 'Proxy that adds secrets to the requests of agents', load: () => import('./proxy.ts') },
    {
      name: 'mcp',
      summary: 'Serve commands of skerry as tools of the Model Context Protocol',
      load: () => import('./mcp.ts'),
    },
  ],
  'Organization:': [
    { name: 'org', summary: 'Organizations and their exports', aliases: ['orgs'], load: () => import('./org.ts') },
    { name: 'plan', summary: 'Plans and usage', aliases: ['plans'], load: () => import('./plan.ts') },
    { name: 'activity', summary: 'Show recent changes, in sentences', load: () => import('./activity.ts') },
    {
      name: 'audit',
      summary: 'Audit log: who did what, and proof that nothing was changed',
      load: () => import('./audit.ts'),
    },
    {
      name: 'log-sink',
      summary: 'Send the audit log to an OpenTelemetry collector',
      load: () => import('./log-sink.ts'),
    },
    {
      name: 'notifications',
      summary: 'Events that are mailed to you',
      aliases: ['notification'],
      load: () => import('./notifications.ts'),
    },
  ],
  'This installation:': [
    {
      name: 'dashboard',
      summary: 'Check that a server serves the published dashboard',
      load: () => import('./dashboard.ts'),
    },
    { name: 'completion', summary: 'Print completions for bash, zsh or fish', load: () => import('./completion.ts') },
    {
      name: 'export',
      summary: 'Replaced by `skerry secrets export` and `skerry org export`',
      hidden: true,
      load: () => import('./export.ts'),
    },
  ],
}

export const commands: readonly CommandRow[] = Object.entries(groups).flatMap(([group, rows]) =>
  rows.map((row) => ({ ...row, group })),
)
