// What people call an environment: `web/production`, `web/production@pr-7`, `shared:production`.

/** The options that name this place again, for messages that tell what to run; `<slug>` for what a label does not tell. */
export function placeOptions(label: string): string {
  const [group, groupEnv] = label.split(':')
  if (groupEnv !== undefined) return `--group ${group} --env ${groupEnv}`
  const [, app = '<slug>', env = '<slug>', branch] = /^(?:(.*)\/([^@]*)|[^@]*)(?:@(.*))?$/.exec(label) ?? []
  return `--app ${app} --env ${env}${branch === undefined ? '' : ` --branch ${branch}`}`
}

/** What to do when the server shows this place otherwise than before; without a label, what the credential reads. */
export function trustHint(label: string | undefined): string {
  const command = ['skerry env trust', ...(label === undefined ? [] : [placeOptions(label)])].join(' ')
  return `the server may be lying; if someone meant it, accept it with \`${command}\``
}
