import { Failure } from '../failure.ts'
import { grantHint, lacksKey } from '../no-key.ts'
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
  if (!message.includes('bound')) return new Failure('refused', `${label}: ${message}`)
  const bound = await boundLabel(session)
  const what = bound === undefined ? message : `this token is bound to ${bound}`
  return new Failure(
    'refused',
    `${label}: ${what}`,
    `leave --app and --env out, or use a token that is bound to ${label}`,
  )
}

/** The environment that the token of the session is bound to; undefined if the token cannot read it. */
async function boundLabel(session: Session): Promise<string | undefined> {
  try {
    const { scope } = await session.client.resolve.get({ query: {} })
    return `${scope.appSlug}/${scope.envSlug}`
  } catch {
    return undefined
  }
}

/** The server names the environments without a key by their slugs, and those of groups as `group:slug`. */
async function withoutKey(message: string, session: Session, label: string, branch: string | undefined) {
  const missing = message.replace(/^.*you hold no key grant on /, '').split(', ')
  const place = label.includes('/') ? label : await labelOfBound(session, missing, label)
  const full = branch === undefined ? place : `${place}@${branch}`
  const groups = missing.filter((one) => one.includes(':'))
  const lacking = groups.length === missing.length ? `${groups.join(', ')}, which ${full} includes` : full
  const who = session.principal.type === 'user' ? 'you hold' : 'this token holds'
  const hint = full.includes('/') ? await grantHint(session, full) : undefined
  return new Failure('refused', `${who} no key to ${lacking}`, hint)
}

/**
 * Finds the name of the environment that a token is bound to without reading it. Such a token sees only its own
 * application.
 */
async function labelOfBound(session: Session, missing: readonly string[], otherwise: string): Promise<string> {
  const slug = (missing.find((one) => !one.includes(':')) ?? missing[0])?.replace(/^.*:/, '')
  try {
    const { id: orgId } = await session.org()
    const [app, ...others] = (await session.client.apps.list({ params: { orgId } })).apps
    if (app === undefined || others.length > 0) return otherwise
    const { environments } = await session.client.apps.envs({ params: { orgId, appId: app.id } })
    return environments.some((one) => one.slug === slug) ? `${app.slug}/${slug}` : otherwise
  } catch {
    return otherwise
  }
}
