/**
 * Returns the path, below the organization, of the page with the secrets of an environment, or with one of the secrets. The
 * environment is given by its label: `web/production`, `web/production@pr-7` or `shared:production`.
 */
export function secretsPath(label: string, secretName?: string): string {
  const [, owner, separator, env, branch] = /^([\w-]+)([/:])([\w-]+)(?:@([\w-]+))?$/.exec(label) ?? []
  // An event of an earlier release has only the slug of the environment.
  if (owner === undefined) return 'apps'
  const named = secretName === undefined ? '' : `?secret=${secretName}&in=${branch ?? env}`
  return `${separator === '/' ? 'apps' : 'groups'}/${owner}${named}`
}
