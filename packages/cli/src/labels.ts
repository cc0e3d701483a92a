// A label is the name of an environment for people: `web/production`, `web/production@pr-7`, `shared:production`.

/**
 * Returns the options that name a labelled environment, for hints about the next command. `<slug>` stands for a part
 * that the label lacks.
 */
export function placeOptions(label: string): string {
  const [group, groupEnv] = label.split(':')
  if (groupEnv !== undefined) return `--group ${group} --env ${groupEnv}`
  const [, app = '<slug>', env = '<slug>', branch] = /^(?:(.*)\/([^@]*)|[^@]*)(?:@(.*))?$/.exec(label) ?? []
  return `--app ${app} --env ${env}${branch === undefined ? '' : ` --branch ${branch}`}`
}

/**
 * Writes a text as one word of a command for a POSIX shell. E-mail addresses may contain characters that a shell reads.
 *
 * @example shellWord('bob@example.com') // bob@example.com
 */
export const shellWord = (text: string): string =>
  /^[\w@][\w@.+:/~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** `--profile`, for the next command of a user who gave it. */
export const profileOption = (profile: string | undefined): string =>
  profile === undefined ? '' : ` --profile ${shellWord(profile)}`

/** The command that accepts an environment as the server shows it now. */
export const trustCommand = (label: string | undefined, profile?: string): string =>
  `skerry env trust${label === undefined ? '' : ` ${label}`}${profileOption(profile)}`

/**
 * The hint for an environment that the server shows differently than before. Without a label, it is about the
 * environment that the credential reads.
 */
export const trustHint = (label: string | undefined, profile: string | undefined): string =>
  `the server may be lying; if someone on your team did this, ${acceptHere(label, profile)}`

/** Says how to accept a change on the machine that runs now. A pipeline has no terminal for the question. */
export function acceptHere(label: string | undefined, profile?: string): string {
  const command = trustCommand(label, profile)
  return process.env.CI ? `run \`${command} --yes\` in this pipeline once` : `accept it with \`${command}\``
}
