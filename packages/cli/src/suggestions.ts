// Suggests a command for a word that other tools use. A suggestion by spelling would be wrong: `get` is close to `set`.

/** Maps words that are no commands of `skerry` to the commands that do what the word means in other tools. */
const commandsOfWord: Readonly<Record<string, readonly string[]>> = {
  account: ['profile', 'whoami'],
  accounts: ['profile'],
  add: ['secrets set'],
  application: ['app'],
  approve: ['changes approve'],
  apply: ['changes approve', 'secrets import'],
  'audit-log': ['audit'],
  auth: ['login'],
  backup: ['org export'],
  cat: ['secrets get'],
  clone: ['secrets copy'],
  compare: ['secrets diff'],
  config: ['setup', 'env'],
  configs: ['env'],
  configure: ['setup'],
  context: ['profile use'],
  copy: ['secrets copy'],
  cp: ['secrets copy'],
  database: ['lease'],
  decrypt: ['secrets export', 'kms decrypt'],
  delete: ['secrets rm'],
  diff: ['secrets diff'],
  document: ['secrets'],
  download: ['secrets export'],
  dump: ['secrets export'],
  'dynamic-secrets': ['lease'],
  edit: ['secrets edit'],
  encrypt: ['secrets import', 'kms encrypt'],
  'env-file': ['secrets export'],
  environment: ['env'],
  environments: ['env'],
  events: ['activity', 'audit'],
  exec: ['run'],
  folders: ['group'],
  generate: ['secrets generate'],
  get: ['secrets get'],
  history: ['secrets history'],
  import: ['secrets import'],
  inject: ['run', 'secrets substitute'],
  integration: ['sync'],
  integrations: ['sync'],
  item: ['secrets get'],
  items: ['secrets'],
  keypair: ['keys status'],
  keyring: ['keys'],
  kv: ['secrets'],
  link: ['setup'],
  list: ['secrets ls'],
  load: ['secrets import'],
  lock: ['keys lock'],
  log: ['activity', 'audit'],
  logs: ['audit'],
  ls: ['secrets ls'],
  me: ['whoami'],
  organization: ['org'],
  passphrase: ['keys passphrase'],
  pki: ['ssh'],
  project: ['app'],
  projects: ['app'],
  promote: ['secrets copy'],
  propose: ['changes propose'],
  protect: ['env protect'],
  pull: ['secrets export'],
  push: ['secrets import'],
  put: ['secrets set'],
  read: ['secrets get'],
  register: ['signup'],
  remove: ['secrets rm', 'members rm'],
  render: ['secrets substitute'],
  restore: ['secrets restore'],
  revoke: ['token revoke', 'grant revoke'],
  rm: ['secrets rm'],
  rollback: ['secrets restore'],
  rotate: ['rotation run'],
  search: ['secrets ls'],
  'service-token': ['token'],
  set: ['secrets set'],
  share: ['grant'],
  show: ['secrets get'],
  signin: ['login'],
  signout: ['logout'],
  start: ['run'],
  status: ['whoami', 'doctor'],
  switch: ['profile use'],
  team: ['members'],
  template: ['secrets substitute'],
  transit: ['kms'],
  unlock: ['keys unlock'],
  unset: ['secrets rm'],
  upload: ['secrets import'],
  user: ['whoami', 'members'],
  users: ['members'],
  variables: ['secrets'],
  vars: ['secrets'],
  'version-history': ['secrets history'],
  versions: ['secrets history'],
  view: ['secrets get'],
  webhook: ['vault webhook'],
  who: ['whoami'],
  workspace: ['org', 'app'],
  workspaces: ['org', 'app'],
  write: ['secrets set'],
}

const nameEnvironment =
  'name the environment with --env or SKERRY_ENV in each command, or change skerry.json with `skerry setup --env <slug>`'

const upgradeSkerry = 'upgrade the clone of Skerry with `git pull && npm ci`; see `skerry help upgrade`'

/** Words for things that Skerry does not do, with the reason. */
const notDone: Readonly<Record<string, string>> = {
  scan: 'Skerry does not search files for leaked secrets. `skerry honey create` makes a decoy that reports who tries it',
  server: 'start the server with `npm start` in a clone of Skerry',
  dev: 'start a server with `npm start` in a clone of Skerry',
  operator: 'Skerry needs no unsealing. `skerry keys unlock` unlocks your own keyring',
  unseal: 'Skerry needs no unsealing. `skerry keys unlock` unlocks your own keyring',
  precommit: 'Skerry keeps secrets out of the checkout, so it has no commit hook',
  checkout: nameEnvironment,
  'self-update': upgradeSkerry,
  use: nameEnvironment,
  update: upgradeSkerry,
  upgrade: upgradeSkerry,
}

/** Groups of verbs with one meaning, for subcommands. The first verb that exists there is suggested. */
const verbs: readonly (readonly string[])[] = [
  ['get', 'show', 'view', 'read', 'cat', 'info', 'describe', 'inspect', 'reveal', 'status'],
  ['ls', 'list', 'all', 'mine', 'search', 'find'],
  ['set', 'create', 'add', 'new', 'make', 'put', 'write', 'edit', 'update', 'change', 'setup', 'invite', 'register'],
  ['rm', 'delete', 'remove', 'revoke', 'unbind', 'disable', 'del', 'unset', 'destroy', 'drop', 'cancel', 'end'],
  ['rename', 'mv', 'move'],
  ['import', 'upload', 'push', 'load'],
  ['export', 'download', 'pull', 'dump', 'save', 'backup'],
  ['diff', 'compare'],
  ['history', 'versions', 'log', 'activity'],
  ['restore', 'rollback', 'revert', 'undo'],
  ['generate', 'random'],
  ['substitute', 'inject', 'template', 'render', 'envsubst'],
  ['run', 'rotate', 'now'],
]

/**
 * Suggests what to run instead of an unknown command.
 *
 * @param path the commands that were understood, without `skerry`: `[]` for `skerry get`, `['secrets']` for `skerry secrets ls`.
 * @param below the names of the commands below the last of them.
 * @returns undefined if there is no suggestion for the word
 */
export function suggestionFor(word: string, path: readonly string[], below: readonly string[]): string | undefined {
  if (path.length === 0 && Object.hasOwn(notDone, word)) return notDone[word]
  if (path[0] === 'env' && (word === 'use' || word === 'switch' || word === 'select')) return nameEnvironment
  const found = path.length === 0 ? ofWord(word) : sameVerb(word, below).map((name) => [...path, name].join(' '))
  return found.length === 0 ? undefined : `use ${found.map((command) => `\`skerry ${command}\``).join(' or ')}`
}

const ofWord = (word: string): readonly string[] => (Object.hasOwn(commandsOfWord, word) ? commandsOfWord[word]! : [])

const sameVerb = (word: string, below: readonly string[]): string[] =>
  (verbs.find((same) => same.includes(word)) ?? []).filter((verb) => below.includes(verb)).slice(0, 1)

/** Options of other tools, with what has their meaning here. */
const optionsElsewhere: Readonly<Record<string, string>> = {
  '--project': 'use --app',
  '--projectId': 'use --app',
  '-p': 'use --app',
  '--config': 'use --env',
  '-c': 'use --env',
  '--environment': 'use --env',
  '-e': 'use --env',
  '--env-file': 'use `skerry run --dotenv <file>`, or store the file with `skerry secrets import <file>`',
  '-f': 'use --dotenv <file> with `run`, or --file <path>',
  '--path': 'use --app, or --group for shared secrets',
  '--address': 'use --url, or SKERRY_URL',
  '--api-host': 'use --url, or SKERRY_URL',
  '--domain': 'use --url, or SKERRY_URL',
  '--plain': 'the value alone is printed to a pipe; add --reveal on a terminal',
  '--raw': 'the value alone is printed to a pipe; add --reveal on a terminal',
  '--show': 'use --reveal',
  '--no-file': 'use `skerry secrets export`, which prints to stdout',
  '--from': 'use --env for the environment to copy from',
  '--user': 'use --actor <address>',
  '--only-names': '`skerry secrets ls --json` prints the names without values',
  '--method': 'use `skerry login --token`',
  '--read-only': 'no token is read-only; see `skerry help read-only token`',
  '--readonly': 'no token is read-only; see `skerry help read-only token`',
  '--version': 'see the values of earlier versions with `skerry secrets history <NAME> --reveal`',
  '--value': 'a value is never an argument; write it to stdin, or use --file',
  '--no-interactive': 'use --yes',
  '--silent': 'send stderr to /dev/null',
  '-o': 'use --out <file>',
  '--output': 'use --out <file>, or --json',
  '--limit-to': 'use --only',
  '--only-secrets': 'use --only',
  '--workspace': 'use --org, or --app',
}

/** Suggests an option instead of an unknown one; undefined if there is no suggestion. */
export const optionFor = (option: string): string | undefined =>
  Object.hasOwn(optionsElsewhere, option) ? optionsElsewhere[option] : undefined

/** Every command that is suggested for a word, for the test that all of them exist. */
export const suggestedCommands: readonly string[] = Object.values(commandsOfWord).flat()
