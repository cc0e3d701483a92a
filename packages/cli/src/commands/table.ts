import type { Command } from 'commander'

/** Every command, in the order of `skerry --help`. A command's module is loaded when the command is used. */
export interface CommandRow {
  name: string
  summary: string
  /** Left out of help and completion. */
  hidden?: true
  load: () => Promise<{ register: (command: Command) => void }>
}

export const commands: readonly CommandRow[] = [
  { name: 'signup', summary: 'Create an organization and sign this machine in', load: () => import('./signup.ts') },
  { name: 'login', summary: 'Sign in, or store a credential for a server', load: () => import('./login.ts') },
  { name: 'logout', summary: 'Sign out, or remove a stored credential', load: () => import('./logout.ts') },
  { name: 'profile', summary: 'Credentials that this machine has stored', load: () => import('./profile.ts') },
  { name: 'sessions', summary: 'Your sessions on machines like this', load: () => import('./sessions.ts') },
  { name: 'whoami', summary: 'Who this machine is to the server', load: () => import('./whoami.ts') },
  {
    name: 'init',
    summary: 'Set up a project folder: skerry.json, application, environment',
    load: () => import('./init.ts'),
  },
  {
    name: 'setup',
    summary: 'Join an existing project: choose its application and environment for a folder',
    load: () => import('./setup.ts'),
  },
  { name: 'run', summary: 'Run a program with the secrets in its environment', load: () => import('./run.ts') },
  { name: 'shell', summary: 'Start your shell with the secrets in its environment', load: () => import('./shell.ts') },
  { name: 'secrets', summary: 'Read and write secrets', load: () => import('./secrets.ts') },
  { name: 'changes', summary: 'Changes that wait for approval', load: () => import('./changes.ts') },
  { name: 'app', summary: 'Applications', load: () => import('./app.ts') },
  { name: 'env', summary: 'Environments of applications and groups', load: () => import('./env.ts') },
  { name: 'group', summary: 'Groups: secrets that applications share', load: () => import('./group.ts') },
  { name: 'compose', summary: 'Groups that are composed into an environment', load: () => import('./compose.ts') },
  { name: 'branch', summary: 'Branches of environments', load: () => import('./branch.ts') },
  { name: 'token', summary: 'Service tokens', load: () => import('./token.ts') },
  {
    name: 'client',
    summary: 'Machine clients: they administer, and hold no key',
    load: () => import('./client.ts'),
  },
  {
    name: 'honey',
    summary: 'Decoys: tokens that never work, and tell when they are tried',
    load: () => import('./honey.ts'),
  },
  { name: 'kms', summary: 'Managed keys: encrypt, decrypt, sign and verify', load: () => import('./kms.ts') },
  {
    name: 'lease',
    summary: 'Accounts that live for minutes, on databases and clouds',
    load: () => import('./lease.ts'),
  },
  {
    name: 'provisioner',
    summary: 'Make and remove the accounts of leases inside your own network',
    load: () => import('./provisioner.ts'),
  },
  { name: 'ssh', summary: 'Sign in to a host with a certificate made for it', load: () => import('./ssh.ts') },
  { name: 'rotation', summary: 'Secrets that the server replaces at intervals', load: () => import('./rotation.ts') },
  {
    name: 'agent',
    summary: 'Agents: what their proxies permit, their tasks, what they did',
    load: () => import('./agent.ts'),
  },
  { name: 'mcp', summary: 'Tools for assistants, over the Model Context Protocol', load: () => import('./mcp.ts') },
  {
    name: 'proxy',
    summary: 'The proxy that enforces agents’ policies, and puts secrets into their requests',
    load: () => import('./proxy.ts'),
  },
  { name: 'sync', summary: 'Copies of secrets at platforms that cannot ask for them', load: () => import('./sync.ts') },
  { name: 'plan', summary: 'The plan, what it includes and what is used', load: () => import('./plan.ts') },
  { name: 'grant', summary: 'Give an environment’s key to a token or a person', load: () => import('./grant.ts') },
  { name: 'keys', summary: 'Your keyring: make it, unlock it, compare it', load: () => import('./keys.ts') },
  {
    name: 'recovery',
    summary: 'Custodians who together open what a lost passphrase closed',
    load: () => import('./recovery.ts'),
  },
  {
    name: 'notifications',
    summary: 'Which events are mailed to you',
    load: () => import('./notifications.ts'),
  },
  { name: 'org', summary: 'Organizations, and their archives', load: () => import('./org.ts') },
  { name: 'members', summary: 'Members: roles, keys, removal', load: () => import('./members.ts') },
  { name: 'invite', summary: 'Invite people', load: () => import('./invite.ts') },
  { name: 'vault', summary: 'Accounts that a product’s users connect', load: () => import('./vault.ts') },
  { name: 'audit', summary: 'Who did what', load: () => import('./audit.ts') },
  {
    name: 'export',
    summary: 'Replaced by `skerry secrets export` and `skerry org export`',
    load: () => import('./export.ts'),
    hidden: true,
  },
  {
    name: 'log-sink',
    summary: 'Send the audit trail to a collector of logs',
    load: () => import('./log-sink.ts'),
  },
  { name: 'doctor', summary: 'Find out what is wrong, and how to mend it', load: () => import('./doctor.ts') },
  { name: 'open', summary: 'Open the environment in the dashboard', load: () => import('./open.ts') },
  {
    name: 'dashboard',
    summary: 'Whether a server’s dashboard is the published one',
    load: () => import('./dashboard.ts'),
  },
  { name: 'completion', summary: 'Completion for bash, zsh and fish', load: () => import('./completion.ts') },
]
