import { createSkerry, type Resolved, type Skerry } from '@skerry/sdk'
import type { Cache } from '@skerry/sdk/cache'
import { RollbackError } from '@skerry/sdk/rollback'
import { Failure, toFailure, usage } from '../failure.ts'
import { noKey } from '../grants.ts'
import { fetchOverHttp } from '../http.ts'
import { forget, recall, remember } from '../id-cache.ts'
import { isMemoryLost } from '../known-state.ts'
import { warn } from '../output.ts'
import { checkNames, findPlace } from '../places.ts'
import { type Session, userAgent } from '../session.ts'
import { mayBeBound, rememberUnbound } from '../token-binding.ts'

export interface ResolveOptions {
  with: string[]
  cache: Cache | undefined
  offline: boolean
  maxAgeSeconds: number
}

/**
 * Long enough for a slow server; short enough that a program waits no longer than this for its last-known-good copy.
 */
const timeoutMs = 8000

/** Resolves the values for `run`. It also returns the resolver, which can resolve them again. */
export async function resolveTarget(session: Session, options: ResolveOptions) {
  // A bound token determines the environment and overrides the project's file: an image built with `"env":
  // "development"` runs in production with production's token. An option or a variable overrides the token.
  if (!session.settings.scopeIsExplicit && mayBeBound(session)) {
    const bound = await tryBound(session, options)
    if (bound) return bound
  }
  return resolveNamed(session, options)
}

async function tryBound(session: Session, options: ResolveOptions) {
  const skerry = await create(session, undefined, options)
  try {
    return { skerry, resolved: await explained(skerry, 'the token’s environment', session) }
  } catch (error) {
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

async function resolveNamed(
  session: Session,
  options: ResolveOptions,
): Promise<{ skerry: Skerry; resolved: Resolved }> {
  const { app, env, url } = session.settings
  const { id: orgId, slug } = await session.org()
  const key = `env ${url} ${slug} ${app}/${env}`
  const label = `${app}/${env}`
  const known = await recallKnown(session, orgId, label, key)
  if (known !== undefined) {
    const skerry = await create(session, known, options)
    try {
      return { skerry, resolved: await explained(skerry, label, session) }
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
  const skerry = await create(session, parentId, options)
  return { skerry, resolved: await explained(skerry, label, session) }
}

/**
 * Returns the cached id of an environment, which saves a request. It drops the id if the known state has another one
 * for this name.
 */
async function recallKnown(session: Session, orgId: string, label: string, key: string): Promise<string | undefined> {
  const envId = recall(key)
  if (envId === undefined) return undefined
  try {
    await checkNames(session, orgId, [{ label, envId }])
    return envId
  } catch (error) {
    if (!(error instanceof RollbackError)) throw error
    forget(key)
  }
}

async function create(session: Session, env: string | undefined, options: ResolveOptions): Promise<Skerry> {
  const { url: baseUrl, allowInsecure, branch } = session.settings
  return createSkerry({
    ...(await session.reader()),
    knownState: session.knownState.reading,
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
    ...options,
  })
}

async function explained(skerry: Skerry, label: string, session: Session): Promise<Resolved> {
  try {
    return await skerry.resolve()
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'forbidden')
      throw new Failure('refused', `${label}: ${(error as Error).message}`, nextOf(error as Error, session, label))
    if (code === 'not_found' && session.settings.branch !== undefined) {
      throw new Failure(
        'notFound',
        `there is no branch '${session.settings.branch}' of ${label}`,
        'see `skerry branch ls`',
      )
    }
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

function nextOf({ message }: Error, session: Session, label: string): string | undefined {
  if (message.includes('bound')) return 'leave --app and --env out, or use a token of that environment'
  const { branch } = session.settings
  return noKey(session, branch === undefined ? label : `${label}@${branch}`).next
}
