import { Failure } from '../failure.ts'
import { orNearestOf } from '../nearest.ts'

/**
 * The error for secrets that do not exist.
 *
 * @param names the secrets that exist; empty if the caller may not list them.
 * @param but what follows the names: `; nothing was deleted`.
 */
export function noSecret(missing: readonly string[], label: string, names: readonly string[], but = ''): Failure {
  const what = `there is no secret ${missing.join(', ')} in ${label}${but}`
  return new Failure('notFound', what, orNearestOf(missing, names, 'see `skerry secrets ls`'))
}
