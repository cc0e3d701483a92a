import { Failure, NoKeyFailure } from '../failure.ts'
import { boundTo, isBoundElsewhere, lacksKey, noKey } from '../no-key.ts'
import { boundPlace, boundWords } from '../places.ts'
import type { Session } from '../session.ts'

/**
 * Says why the server refuses the values of an environment, and which command helps.
 *
 * @param label the environment without its branch; of a bound token, words that stand for its environment.
 */
export async function refusal(
  error: Error,
  session: Session,
  label: string,
  branch: string | undefined,
): Promise<Failure> {
  const { message } = error
  if (lacksKey(error)) return withoutKey(message, session, label, branch)
  const bound = isBoundElsewhere(error) ? await boundPlace(session).catch(() => undefined) : undefined
  return bound ? boundTo(bound.label, label) : new Failure('refused', `${label}: ${message}`)
}

/** The server names the environments without a key by their slugs, and those of groups as `group:slug`. */
async function withoutKey(message: string, session: Session, label: string, branch: string | undefined) {
  const missing = message.replace(/^.*you hold no key grant on /, '').split(', ')
  const place = label === boundWords ? await labelOfBound(session, missing, branch) : label
  const full = branch === undefined ? place : `${place}@${branch}`
  const groups = missing.filter((one) => one.includes(':'))
  const isOfGroups = groups.length === missing.length
  const lacking = isOfGroups ? `${groups.join(', ')}, which ${full} includes` : full
  const failure = await noKey(session, full, lacking)
  if (full.includes('/')) return failure
  // Without the name of the environment there is no command that helps.
  return new NoKeyFailure(failure.kind, failure.message)
}

/**
 * Finds the name of the environment that a token is bound to. A token that can read its environment, and not its
 * branch, resolves the environment. Any other bound token sees only its own application.
 */
async function labelOfBound(session: Session, missing: readonly string[], branch: string | undefined): Promise<string> {
  try {
    if (branch !== undefined) return (await boundPlace(session))?.label ?? boundWords
    const slug = (missing.find((one) => !one.includes(':')) ?? missing[0])?.replace(/^.*:/, '')
    const { id: orgId } = await session.org()
    const [app, ...others] = (await session.client.apps.list({ params: { orgId } })).apps
    if (app === undefined || others.length > 0) return boundWords
    const { environments } = await session.client.apps.envs({ params: { orgId, appId: app.id } })
    return environments.some((one) => one.slug === slug) ? `${app.slug}/${slug}` : boundWords
  } catch {
    return boundWords
  }
}
