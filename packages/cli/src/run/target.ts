import { createSkerry, type Resolved, type Skerry } from '@skerry/sdk'
import type { Cache } from '@skerry/sdk/cache'
import { RollbackError } from '@skerry/sdk/rollback'
import { Failure, lacksKey, toFailure, usage } from '../failure.ts'
import { whyNoBranch } from '../git-branch.ts'
import { fetchOverHttp } from '../http.ts'
import { forget, idKeyOf, recall, remember } from '../id-cache.ts'
import { mustVerify } from '../known-directories.ts'
import { isMemoryLost } from '../known-state.ts'
import { note, warn } from '../output.ts'
import { boundWords, checkKnownNames, findPlace, noBranch } from '../places.ts'
import { ownOverrides, type Session, userAgent } from '../session.ts'
import { mayBeBound, rememberUnbound } from '../token-binding.ts'

export interface ResolveOptions {
  with: string[]
  cache: Cache | undefined
  offline: boolean
  maxAgeSeconds: number
  /** True if the run uses the person’s own overrides. */
  overrides: boolean
}

/**
 * Long enough for a slow server; short enough that a program waits no longer than this for its last-known-good copy.
 */
const timeoutMs = 8000

export interface Target {
  skerry: Skerry
  resolved: Resolved
  /** The environment for people, such as `shop/development@pr-7`. */
  label: string
  /** Whether the environment is the one that the token is bound to, and no option named it. */
  isBound: boolean
}

/** Resolves the values for `run`. It also returns the resolver, which can resolve them again. */
export async function resolveTarget(session: Session, options: ResolveOptions): Promise<Target> {
  // A bound token determines the environment and overrides the project's file: an image built with `"env":
  // "development"` runs in production with production's token. An option or a variable overrides the token.
  const { app, env, scopeIsExplicit, isAppNamed } = session.settings
  if (scopeIsExplicit) requireOwnName(session)
  const bound = isAppNamed || !mayBeBound(session) ? undefined : await tryBound(session, options)
  if (!bound) return resolveNamed(session, options, app)
  if (!scopeIsExplicit) return bound
  // The name of an environment alone is one of the token's application.
  const { appSlug } = bound.resolved.scope
  return bound.label.replace(/@.*$/, '') === `${appSlug}/${env}`
    ? { ...bound, isBound: false }
    : resolveNamed(session, options, appSlug)
}

/** A token that carries a name reads this environment alone, whatever else a command names. */
function requireOwnName({ pinned, settings: { app, env, isAppNamed } }: Session): void {
  const own = pinned?.environment
  if (!own) return
  const wanted = `${isAppNamed ? app : own.split('/')[0]}/${env ?? own.split('/')[1]}`
  if (wanted !== own)
    throw usage(`this token is for ${own}, not for ${wanted}`, 'leave out --app and --env, or use another token')
}

async function tryBound(session: Session, options: ResolveOptions) {
  try {
    const found = await resolveAt(session, undefined, boundWords, options)
    return { ...found, label: labelOfBound(found.resolved), isBound: true }
  } catch (error) {
    // A copy may be kept under the name of the environment.
    if (session.settings.scopeIsExplicit && toFailure(error).kind === 'unavailable') return undefined
    if ((error as { code?: string }).code !== 'invalid_request') throw error
    // A wrong --with gives the same error. A second try without it shows whether the token is bound.
    if (options.with.length > 0 && (await tryBound(session, { ...options, with: [] }))) throw error
    rememberUnbound(session)
    const { app, env } = session.settings
    if (app !== undefined && env !== undefined) return undefined
    throw usage(
      'this token is not bound to an environment',
      'name one with --app and --env, or SKERRY_APP and SKERRY_ENV',
    )
  }
}

async function resolveNamed(session: Session, options: ResolveOptions, app: string | undefined): Promise<Target> {
  const { env, url } = session.settings
  const { id: orgId, slug } = await session.org()
  const label = `${app}/${env}`
  const key = idKeyOf(url, slug, label)
  const known = await recallKnown(session, orgId, label, key)
  if (known !== undefined) {
    try {
      return await resolveAt(session, known, label, options)
    } catch (error) {
      // The environment may have been deleted and created again.
      if (toFailure(error).kind !== 'notFound') throw error
      forget(key)
    }
  }
  if (options.offline)
    throw new Failure('unavailable', `nothing is kept for ${label}`, 'run once while the server can be reached')
  const { parentId } = await findPlace(session, { app, env })
  remember(key, parentId)
  return resolveAt(session, parentId, label, options)
}

/**
 * Resolves one environment. With `--branch auto`, the environment itself is used if it has no branch for the git branch.
 */
async function resolveAt(
  session: Session,
  env: string | undefined,
  label: string,
  options: ResolveOptions,
): Promise<Target> {
  const { branch, gitBranch } = session.settings
  const resolve = async (slug: string | undefined, more: ResolveOptions): Promise<Target> => {
    const skerry = await create(session, { env, branch: slug, label }, more).catch(async (error) => {
      if (env !== undefined && !more.offline) await refuseWithoutKey(session, { env, label, branch: slug }, error)
      throw error
    })
    const resolved = await explained(skerry, label, session, slug)
    return { skerry, resolved, label: slug === undefined ? label : `${label}@${slug}`, isBound: false }
  }
  if (gitBranch === undefined) return resolve(branch, options)
  let why = whyNoBranch(gitBranch)
  let offline = options.offline
  if (branch !== undefined) {
    try {
      return await resolve(branch, options)
    } catch (error) {
      const { kind } = toFailure(error)
      if (kind !== 'notFound' && kind !== 'unavailable') throw error
      // The server is not asked twice if it cannot be reached: its copy of the environment itself is used.
      offline ||= kind === 'unavailable'
      const exists = kind === 'notFound' ? 'exists' : 'is kept on this machine'
      why = `no branch ${branch} ${exists} for the git branch ${gitBranch.name}`
    }
  }
  const used = await resolve(undefined, { ...options, offline })
  note(`${why}: using ${env === undefined ? labelOfBound(used.resolved) : label} itself`)
  return used
}

/**
 * Refuses a person who has no key of the environment. Their locked keyring failed first, but the passphrase would not
 * help.
 */
async function refuseWithoutKey(
  session: Session,
  { env, label, branch }: { env: string; label: string; branch: string | undefined },
  failed: unknown,
): Promise<void> {
  const { LockedFailure } = await import('../keyring/unlock.ts')
  if (!(failed instanceof LockedFailure)) return
  const query = { env, ...(branch === undefined ? {} : { branch }) }
  const refused = await session.client.resolve.get({ query }).then(
    () => undefined,
    (error: Error) => error,
  )
  if (!lacksKey(refused)) return
  const { refusal } = await import('./refusal.ts')
  throw await refusal(refused as Error, session, label, branch)
}

/** The name of the environment that a token is bound to. The answer about a branch may not name its environment. */
function labelOfBound({ scope: { appSlug, envSlug, branchOf }, provenance }: Resolved): string {
  if (branchOf === undefined) return `${appSlug}/${envSlug}`
  const layers = Object.values(provenance).flatMap((one) => [one, ...one.overrides])
  const parent = layers.find(({ source }) => source === 'app')?.slug
  return parent === undefined ? `branch ${envSlug} in ${appSlug}` : `${appSlug}/${parent}@${envSlug}`
}

/**
 * Returns the cached id of an environment, which saves a request. It drops the id if the known state has another one
 * for this name.
 */
async function recallKnown(session: Session, orgId: string, label: string, key: string): Promise<string | undefined> {
  const envId = recall(key)
  if (envId === undefined) return undefined
  try {
    await checkKnownNames(session, orgId, [{ label, envId }])
    return envId
  } catch (error) {
    if (!(error instanceof RollbackError)) throw error
    forget(key)
  }
}

async function create(
  session: Session,
  { env, branch, label }: { env: string | undefined; branch: string | undefined; label: string },
  options: ResolveOptions,
): Promise<Skerry> {
  const { url: baseUrl, allowInsecure } = session.settings
  const { overrides, ...more } = options
  return createSkerry({
    ...(await session.reader()),
    knownState: session.knownState.reading,
    directory: mustVerify(session)
      ? await (await import('../trust/reading.ts')).directorySettings(session, nameOf(env, label, branch))
      : undefined,
    baseUrl,
    allowInsecure,
    userAgent,
    fetch: fetchOverHttp,
    timeoutMs,
    env,
    branch,
    // Without a usable home folder neither the cache nor the known state can be stored. One warning is enough.
    warn: (message) => isMemoryLost() || warn(message),
    partial: true,
    ...more,
    overrides: overrides ? await ownOverrides(session) : undefined,
  })
}

/** Undefined if the token alone determines the environment. */
const nameOf = (env: string | undefined, label: string, branch: string | undefined) =>
  env === undefined ? undefined : branch === undefined ? label : `${label}@${branch}`

async function explained(
  skerry: Skerry,
  label: string,
  session: Session,
  branch: string | undefined,
): Promise<Resolved> {
  try {
    return await skerry.resolve()
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'forbidden') {
      const { refusal } = await import('./refusal.ts')
      throw await refusal(error as Error, session, label, branch)
    }
    if (code === 'not_found' && branch !== undefined) throw noBranch(session, branch, label)
    if (code === 'offline') {
      throw new Failure(
        'unavailable',
        `no copy of ${label} is kept that is young enough`,
        'run once while the server can be reached, or raise --max-age',
      )
    }
    throw error
  }
}
