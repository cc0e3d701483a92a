import type { Answer } from '@skerry/contract/endpoint'
import type { endpoints } from '@skerry/contract/endpoints'
import type { Environment } from '@skerry/sdk/environments'
import { Failure, lacksKey, usage } from './failure.ts'
import { whyNoBranch } from './git-branch.ts'
import { mustVerify, mustVerifyIn } from './known-directories.ts'
import { checkKind, noteSeen } from './known-names.ts'
import { placeOptions } from './labels.ts'
import { orNearest } from './nearest.ts'
import type { Session } from './session.ts'
import type { Flags } from './settings.ts'
import { mayBeBound, rememberUnbound } from './token-binding.ts'

export type App = Answer<typeof endpoints.apps.get>['app']
export type Group = Answer<typeof endpoints.groups.get>['group']

/** An environment that a command works on. */
export interface Place {
  orgId: string
  envId: string
  environment: Environment
  /** `web/development`, `web/development@pr-7`, `shared:development`. */
  label: string
  kind: 'app' | 'branch' | 'group'
  /** The id of the environment that a branch was forked from; otherwise the environment's own id. */
  parentId: string
}

/** The names that identify an environment. Without `group` and `app`, `usualApp` finds the application. */
export interface PlaceName {
  app?: string | undefined
  group?: string | undefined
  env?: string | undefined
  branch?: string | undefined
}

export async function findApp(session: Session, slug: string | undefined): Promise<App> {
  if (slug === undefined)
    throw usage('no application is named', 'use --app, SKERRY_APP, or `skerry setup` in the project')
  const org = await session.org()
  const { apps } = await session.client.apps.list({ params: { orgId: org.id } })
  const app = apps.find(isNamed(slug))
  if (app) return seen(session, org.id, 'application', app, slug)
  const next = orNearest(slug, slugsOf(apps), 'see `skerry app ls`')
  throw new Failure('notFound', `there is no application '${slug}' in ${org.slug}`, next)
}

export async function findGroup(session: Session, slug: string): Promise<Group> {
  const org = await session.org()
  const { groups } = await session.client.groups.list({ params: { orgId: org.id } })
  const group = groups.find(isNamed(slug))
  if (group) return seen(session, org.id, 'group', group, slug)
  const next = orNearest(slug, slugsOf(groups), 'see `skerry group ls`')
  throw new Failure('notFound', `there is no group '${slug}' in ${org.slug}`, next)
}

/** Remembers the slug that the user typed. The slug for an id that the user typed is only the server's word. */
function seen<T extends App | Group>(
  session: Session,
  orgId: string,
  kind: 'application' | 'group',
  found: T,
  wanted: string,
): T {
  checkKind({ kind, id: found.id }, kind)
  if (wanted !== found.id) noteSeen(session, orgId, { kind, id: found.id, name: found.slug })
  return found
}

const slugsOf = (rows: readonly { slug: string }[]): string[] => rows.map(({ slug }) => slug)

/**
 * Finds the names of the environment in options and settings. With `--group`, it ignores the application of the
 * settings.
 */
export function namedPlace(session: Session, flags: Flags): PlaceName {
  const owner = namedOwner(session, flags)
  return owner.group === undefined ? { ...owner, branch: namedBranch(session.settings) } : owner
}

function namedOwner({ settings }: Session, flags: Flags): PlaceName {
  if (flags.group === undefined) return { env: settings.env }
  if (flags.app !== undefined || flags.branch !== undefined)
    throw usage('--group cannot be used with --app or --branch')
  return { group: flags.group, env: settings.env }
}

/**
 * The branch of the settings. Without a git branch, `--branch auto` is refused, because a command that writes would
 * change the environment itself. `run`, `shell` and `proxy run` only read, and use the environment then.
 */
function namedBranch({ branch, gitBranch }: Session['settings']): string | undefined {
  if (gitBranch !== undefined && branch === undefined)
    throw usage(
      whyNoBranch(gitBranch),
      'name the branch with --branch, or leave `auto` out of --branch and SKERRY_BRANCH',
    )
  return branch
}

/** An id contains `_` and a slug does not. A server can therefore not answer an id with a slug that looks like it. */
const isNamed = (wanted: string | undefined) => (one: { id: string; slug: string }) =>
  wanted?.includes('_') ? one.id === wanted : one.slug === wanted

/** An environment with the name that a person uses. */
type Named = { label: string; envId: string }

/**
 * The server says which environment a name means. This compares its answer with the environment that the name meant
 * before, and with the signed directory if this machine knows it.
 */
export async function checkNames(session: Session, orgId: string, named: readonly Named[]): Promise<void> {
  await checkKnownNames(session, orgId, named)
  if (!mustVerifyIn(session, orgId)) return
  const { requireNames } = await import('./trust/names.ts')
  await requireNames(session, orgId, named)
}

/** Compares names only with those that this machine has seen, without a request. */
export const checkKnownNames = (session: Session, orgId: string, named: readonly Named[]): Promise<void> =>
  session.knownState.writing.check({
    meanings: { environments: named.map(({ label: name, envId: environmentId }) => ({ orgId, name, environmentId })) },
  })

/** Does the same for an object that the server shows in an environment. Without a name, the label is the environment's id. */
export const checkShownName = async (session: Session, orgId: string, label: string, envId: string): Promise<void> =>
  label === envId ? undefined : checkNames(session, orgId, [{ label, envId }])

/** Refuses an environment that both an argument and `--env` name. `--env` was an option of these commands before. */
export function checkNamed(flags: Flags, named: string | undefined): void {
  if (named !== undefined && flags.env !== undefined) throw usage('you named the environment twice', 'leave out --env')
}

/**
 * Reads the environment that an argument names: `env`, `app/env`, `app/env@branch`, `group:env` or an id. `--branch`
 * names a branch of it, and the branch of the settings is ignored. Without an argument, options and settings name it.
 */
export function placeNamed(session: Session, named: string | undefined, flags: Flags): PlaceName {
  if (named === undefined) return namedPlace(session, flags)
  if (!isWholeName(named)) {
    const branch = flags.branch === undefined ? undefined : namedBranch(session.settings)
    return { ...namedOwner(session, flags), env: named, branch }
  }
  if (flags.app !== undefined || flags.group !== undefined || flags.branch !== undefined)
    throw usage(`'${named}' already names the environment`, 'leave out --app, --group and --branch')
  return parsePlace(named)
}

/** @throws RollbackError if the name is a different environment than before. */
export async function findPlace(session: Session, name: PlaceName): Promise<Place> {
  if (name.env === undefined)
    throw usage('no environment is named', 'use --env, SKERRY_ENV, or `skerry setup` in the project')
  if (name.group !== undefined) return findGroupPlace(session, name.group, name.env)
  const app = await findApp(session, name.app ?? (await usualApp(session)))
  const params = { orgId: app.orgId, appId: app.id }
  const { environments } = await session.client.apps.envs({ params })
  const parent = environments.find(isNamed(name.env))
  if (!parent) {
    const next = orNearest(name.env, slugsOf(environments), `see \`skerry env ls --app ${app.slug}\``)
    throw new Failure('notFound', `there is no environment ${app.slug}/${name.env}`, next)
  }
  const label = `${app.slug}/${parent.slug}`
  const { id: orgId } = await session.org()
  await checkNames(session, orgId, [{ label, envId: parent.id }])
  const place = { orgId, parentId: parent.id }
  const found: Place = { ...place, envId: parent.id, environment: parent, label, kind: 'app' }
  return name.branch === undefined ? found : findBranch(session, found, name.branch)
}

async function findBranch(session: Session, parent: Place, slug: string): Promise<Place> {
  const { orgId, envId, label } = parent
  const { branches } = await session.client.branches.list({ params: { orgId, envId } })
  const branch = branches.find(isNamed(slug))
  if (!branch) throw noBranch(session, slug, label, slugsOf(branches))
  const found = { label: `${label}@${branch.slug}`, envId: branch.id }
  await checkNames(session, orgId, [found])
  return { orgId, parentId: envId, ...found, environment: branch, kind: 'branch' }
}

/** @param others the branches that exist, if they are known. */
export function noBranch(
  { settings: { gitBranch } }: Session,
  branch: string,
  label: string,
  others: readonly string[] = [],
): Failure {
  const isAuto = gitBranch?.slug === branch
  const origin = isAuto ? ` (the git branch is ${gitBranch?.name})` : ''
  const next = isAuto
    ? `create it with \`skerry branch create ${branch} ${placeOptions(label)}\``
    : orNearest(branch, others, 'see `skerry branch ls`')
  return new Failure('notFound', `there is no branch '${branch}' of ${label}${origin}`, next)
}

async function findGroupPlace(session: Session, groupSlug: string, env: string): Promise<Place> {
  const group = await findGroup(session, groupSlug)
  const { environments } = await session.client.groups.envs({ params: { orgId: group.orgId, groupId: group.id } })
  const environment = environments.find(isNamed(env))
  const label = `${group.slug}:${environment?.slug ?? env}`
  if (environment) {
    const { id: orgId } = await session.org()
    await checkNames(session, orgId, [{ label, envId: environment.id }])
    return { orgId, envId: environment.id, parentId: environment.id, environment, label, kind: 'group' }
  }
  const create = `create it with \`skerry env create ${env} --group ${group.slug}\``
  const next = orNearest(env, slugsOf(environments), create)
  throw new Failure('notFound', `there is no environment ${label}`, next)
}

/** Finds an environment by its id, and checks that its name means the same environment as before. */
export async function findPlaceById(session: Session, orgId: string, envId: string): Promise<Place> {
  const place = await lookUpById(session, orgId, envId)
  await checkNames(session, orgId, [place])
  return place
}

async function lookUpById(session: Session, orgId: string, envId: string): Promise<Place> {
  const { client } = session
  const { environment } = await client.envs.get({ params: { orgId, envId } })
  const { applicationId, groupId, parentEnvironmentId: parentId } = environment
  const place = { orgId, envId, environment, parentId: parentId ?? envId }
  if (groupId !== null) {
    const { group } = await client.groups.get({ params: { orgId, groupId } })
    return { ...place, label: `${group.slug}:${environment.slug}`, kind: 'group' }
  }
  const { app } = await client.apps.get({ params: { orgId, appId: applicationId ?? '' } })
  if (parentId === null) return { ...place, label: `${app.slug}/${environment.slug}`, kind: 'app' }
  const parent = await client.envs.get({ params: { orgId, envId: parentId } })
  return { ...place, label: `${app.slug}/${parent.environment.slug}@${environment.slug}`, kind: 'branch' }
}

/** Stands for the environment of a bound token before its name is known. */
export const boundWords = 'the token’s environment'

const boundPlaces = new WeakMap<Session, Promise<Place | undefined>>()

/**
 * The environment that a token is bound to, or a branch of it; undefined for a credential that is bound to none. The
 * server is asked once for each session.
 */
export async function boundPlace(session: Session, branch?: string): Promise<Place | undefined> {
  if (!mayBeBound(session)) return undefined
  const asked = boundPlaces.get(session) ?? findBoundPlace(session)
  boundPlaces.set(session, asked)
  const place = await asked
  return place === undefined || branch === undefined ? place : findBranch(session, place, branch)
}

/**
 * Finds the application for a command that names only an environment. An option or a variable comes first, then the
 * environment that a token is bound to, then the project's file.
 */
export async function usualApp(session: Session): Promise<string | undefined> {
  const { app, isAppNamed } = session.settings
  const bound = isAppNamed ? undefined : await boundPlace(session)
  return bound === undefined ? app : bound.label.split('/', 1)[0]
}

async function findBoundPlace(session: Session): Promise<Place | undefined> {
  const scope = await boundScope(session)
  if (scope === undefined) return undefined
  const { orgId, envId } = scope
  await session.knownState.writing.check({ meanings: { bound: envId, organization: { name: '', id: orgId } } })
  const place = await findPlaceById(session, orgId, envId)
  const named = session.pinned?.environment ?? undefined
  if (named === undefined || place.label.replace(/@.*$/, '') === named) return place
  throw new Failure(
    'refused',
    `this token is for ${named}, and the server says that it is for ${place.label}`,
    'do not use this server, and tell your organization’s owner',
  )
}

async function boundScope(session: Session): Promise<{ orgId: string; envId: string } | undefined> {
  try {
    if (!mustVerify(session)) return (await session.client.resolve.get({ query: {} })).scope
    return (await (await import('./trust/layers.ts')).resolveSigned(session, {}, undefined)).scope
  } catch (error) {
    if (lacksKey(error)) return (await import('./bound-scope.ts')).boundWithoutKeys(session, error)
    if ((error as { code?: unknown }).code !== 'invalid_request') throw error
    rememberUnbound(session)
    return undefined
  }
}

/**
 * Lists every environment of the organization. The server does not say whether this credential can decrypt a branch.
 */
export async function listPlaces(session: Session): Promise<{ envId: string; label: string; canDecrypt?: boolean }[]> {
  const { client } = session
  const { id: orgId } = await session.org()
  const [{ apps }, { groups }] = await Promise.all([
    client.apps.list({ params: { orgId } }),
    client.groups.list({ params: { orgId } }),
  ])
  const ofApp = async ({ id: appId, slug }: App) => {
    const params = { orgId, appId }
    const [{ environments }, { branches }] = await Promise.all([
      client.apps.envs({ params }),
      client.apps.branches({ params }),
    ])
    const labels = new Map(environments.map((one) => [one.id, `${slug}/${one.slug}`]))
    return [
      ...environments.map(({ id, canDecrypt }) => ({ envId: id, label: labels.get(id)!, canDecrypt })),
      ...branches.map((one) => ({ envId: one.id, label: `${labels.get(one.parentEnvironmentId ?? '')}@${one.slug}` })),
    ]
  }
  const ofGroup = async ({ id: groupId, slug }: Group) => {
    const { environments } = await client.groups.envs({ params: { orgId, groupId } })
    return environments.map((one) => ({ envId: one.id, label: `${slug}:${one.slug}`, canDecrypt: one.canDecrypt }))
  }
  return (await Promise.all([...apps.map(ofApp), ...groups.map(ofGroup)])).flat()
}

/** Whether a name says more than the slug of an environment: `app/env`, `env@branch`, `group:env`. */
export const isWholeName = (text: string): boolean => /[/:@]/.test(text)

/** Parses `env`, `app/env`, `app/env@branch`, `env@branch` or `group:env`. */
export function parsePlace(text: string): PlaceName {
  const slug = '[a-z0-9-]+'
  const [, group, groupEnv] = new RegExp(`^(${slug}):(${slug})$`).exec(text) ?? []
  if (group !== undefined) return { group, env: groupEnv }
  const [, app, env, branch] = new RegExp(`^(?:(${slug})/)?(${slug})(?:@(${slug}))?$`).exec(text) ?? []
  if (env !== undefined) return { app, env, branch }
  throw usage(`'${text}' is not the name of an environment`, 'write env, app/env, app/env@branch or group:env')
}
