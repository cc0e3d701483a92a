// Suggests a command for a word that other tools use. A suggestion by spelling would be wrong: `get` is close to `set`.

/** Maps words that are no commands of `skerry` to the commands that do what the word means in other tools. */
const commandsOfWord: Readonly<Record<string, readonly string[]>> = {
  add: ['secrets set'],
  apps: ['app'],
  application: ['app'],
  auth: ['login'],
  backup: ['org export'],
  cat: ['secrets get'],
  compare: ['secrets diff'],
  config: ['setup', 'env'],
  configure: ['setup'],
  delete: ['secrets rm'],
  diff: ['secrets diff'],
  download: ['secrets export'],
  dump: ['secrets export'],
  edit: ['secrets set'],
  environment: ['env'],
  environments: ['env'],
  envs: ['env'],
  exec: ['run'],
  generate: ['secrets generate'],
  get: ['secrets get'],
  history: ['secrets history'],
  import: ['secrets import'],
  inject: ['run', 'secrets substitute'],
  kv: ['secrets'],
  link: ['setup'],
  list: ['secrets list'],
  load: ['secrets import'],
  logs: ['audit'],
  ls: ['secrets list'],
  me: ['whoami'],
  organization: ['org'],
  profiles: ['profile'],
  project: ['app'],
  projects: ['app'],
  pull: ['secrets export'],
  push: ['secrets import'],
  put: ['secrets set'],
  read: ['secrets get'],
  register: ['signup'],
  remove: ['secrets rm'],
  render: ['secrets substitute'],
  restore: ['secrets restore'],
  revoke: ['token revoke', 'grant revoke'],
  rm: ['secrets rm'],
  rollback: ['secrets restore'],
  rotate: ['rotation run'],
  secret: ['secrets'],
  set: ['secrets set'],
  share: ['grant'],
  show: ['secrets get'],
  signin: ['login'],
  signout: ['logout'],
  start: ['run'],
  status: ['whoami', 'doctor'],
  template: ['secrets substitute'],
  unset: ['secrets rm'],
  upload: ['secrets import'],
  user: ['whoami', 'members'],
  users: ['members'],
  variables: ['secrets'],
  vars: ['secrets'],
  view: ['secrets get'],
  who: ['whoami'],
  write: ['secrets set'],
}

/** Words for things that Skerry does not do, with the reason. */
const notDone: Readonly<Record<string, string>> = {
  scan: 'Skerry does not search files for leaked secrets; `skerry honey create` makes a decoy that reports who tries it',
}

/** Groups of verbs with one meaning, for subcommands. The first verb that exists there is suggested. */
const verbs: readonly (readonly string[])[] = [
  ['get', 'show', 'view', 'read', 'cat', 'info', 'describe', 'inspect', 'reveal', 'status'],
  ['list', 'ls', 'all', 'mine'],
  ['set', 'create', 'add', 'new', 'make', 'put', 'write', 'edit', 'update', 'change', 'setup', 'invite'],
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
  const found = path.length === 0 ? ofWord(word) : sameVerb(word, below).map((name) => [...path, name].join(' '))
  return found.length === 0 ? undefined : `use ${found.map((command) => `\`skerry ${command}\``).join(' or ')}`
}

const ofWord = (word: string): readonly string[] => (Object.hasOwn(commandsOfWord, word) ? commandsOfWord[word]! : [])

const sameVerb = (word: string, below: readonly string[]): string[] =>
  (verbs.find((same) => same.includes(word)) ?? []).filter((verb) => below.includes(verb)).slice(0, 1)

/** Every command that is suggested for a word, for the test that all of them exist. */
export const suggestedCommands: readonly string[] = Object.values(commandsOfWord).flat()
