import { relative } from 'node:path'
import type { Command } from 'commander'
import { Failure, usage } from '../failure.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { pinForProject } from '../known-directories.ts'
import { noteAccess } from '../next-step.ts'
import { common, confirmable, explained, withEnv } from '../options.ts'
import { note, type Output } from '../output.ts'
import { askApp, askEnvironment, askOrg, listApps, listEnvironments } from '../place-picker.ts'
import { boundPlace, findApp, findPlace, type Place } from '../places.ts'
import { writeProject } from '../project.ts'
import { entryOf } from '../project-entry.ts'
import { canAsk, confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Settings } from '../settings.ts'

export function register(command: Command): void {
  const named = explained(
    confirmable(common(command)),
    'Writes skerry.json and creates nothing on the server. If the folder has a skerry.json, it shows the environment and whether you can read it. --url, --org, --app and --env change the file. To use another environment in one shell, set SKERRY_ENV.',
  )
  withEnv(named.option('--app <slug>', 'application (default: ask)'), 'environment (default: ask)').action(
    signedIn(setup, () => process.cwd()),
  )
}

interface Scope {
  org: string
  app: string
  env: string
}

async function setup({ session, flags, input: folder }: SignedIn<Confirmable, () => string>): Promise<Output> {
  const now = scopeOf(session.settings)
  const wanted = { ...now, ...definedOf({ org: flags.org, app: flags.app, env: flags.env }) }
  const found = movedProject(session.settings, wanted.org, flags.url)
  const isAsIs = isWhole(now) && isSame(now, wanted) && found === session.settings.found
  if (!session.settings.scopeIsExplicit && (isAsIs || Object.keys(wanted).length === 0)) {
    const bound = await boundPlace(session)
    if (bound) return showBound(session, bound, now)
  }
  if (isAsIs) return showFolder(session)
  const chosen = await chooseOrg(session, wanted.org)
  const app = await chooseApp(chosen, wanted.app ?? chosen.settings.app)
  const env = await chooseEnvironment(chosen, app, wanted.env ?? chosen.settings.env)
  const place = await findPlace(chosen, { app, env })
  const { slug: org } = await chosen.org()
  return writeFolder(chosen, { folder, place, scope: { org, app, env }, now, found }, flags)
}

/**
 * Returns the project with the address of `--url`. It keeps its pin, because the organization is the same: another one
 * at this address is then refused. A project that changes its organization is returned as it is.
 */
function movedProject({ found, url }: Settings, org: string | undefined, given: string | undefined) {
  if (!found || given === undefined || org !== found.project.org || isSameUrl(found.project.url, url)) return found
  return { ...found, project: { ...found.project, url } }
}

const isSameUrl = (one: string | undefined, other: string) =>
  one !== undefined && URL.parse(one)?.href === URL.parse(other)?.href

/** The place that `skerry.json` has for this folder. */
function scopeOf({ found }: Settings): Partial<Scope> {
  return found ? { ...definedOf({ org: found.project.org }), ...found.scope } : {}
}

const definedOf = (scope: { [K in keyof Scope]?: string | undefined }) =>
  Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== undefined)) as Partial<Scope>

const isWhole = ({ app, env }: Partial<Scope>) => app !== undefined && env !== undefined

const isSame = (one: Partial<Scope>, other: Partial<Scope>) =>
  one.app === other.app && one.env === other.env && one.org === other.org

/** Shows the environment that commands use here, which options and variables can choose instead of the file. */
async function showFolder(session: Session): Promise<Output> {
  const { app, env, found, url } = session.settings
  const { id, slug } = await session.org()
  const place = await findPlace(session, { app, env })
  const { orgs } = await session.client.me.get()
  const name = orgs.find((one) => one.id === id)?.name ?? slug
  note(`this folder uses ${name} (${slug}), ${place.label}`)
  const { scope, project } = found!
  if (app !== scope.app || env !== scope.env) {
    note(`SKERRY_APP or SKERRY_ENV chose it; skerry.json names ${scope.app}/${scope.env}`)
  }
  if (project.url !== undefined && !isSameUrl(project.url, url)) {
    note(`SKERRY_URL chose the server ${url}; skerry.json names ${project.url}`)
  }
  const canRead = await noteAccess(session, place)
  return { json: { file: found!.file, ...jsonOf(session, slug, place), canRead, changed: false } }
}

async function showBound(session: Session, place: Place, { app, env }: Partial<Scope>): Promise<Output> {
  const { slug } = await session.org()
  const isOther = env !== undefined && `${app}/${env}` !== place.label
  note(`this token is bound to ${place.label} and needs no skerry.json`)
  if (isOther) note(`commands with this token use ${place.label}, and not ${app}/${env} of skerry.json`)
  const canRead = await noteAccess(session, place)
  return { json: { file: null, ...jsonOf(session, slug, place), canRead, changed: false } }
}

function jsonOf({ settings: { url } }: Session, org: string, { label, envId }: Place) {
  const [app, env] = label.split('/')
  return { url, org, app, env, environmentId: envId }
}

interface Writing {
  folder: string
  place: Place
  scope: Scope
  now: Partial<Scope>
  /** The file of the folder or of one above, with the address that it gets. */
  found: Settings['found']
}

async function writeFolder(session: Session, { folder, place, scope, now, found }: Writing, flags: Confirmable) {
  const { org, app, env } = scope
  const { url } = session.settings
  const moved = found === session.settings.found ? null : found
  const isOnlyMoved = moved !== null && isSame(now, scope)
  if (isWhole(now)) {
    const places = isOnlyMoved ? '' : ` from ${now.app}/${now.env} to ${place.label} of ${org}`
    const server = moved ? ` to the server ${url}` : ''
    const next = `Run again with --yes, or set ${isOnlyMoved ? 'SKERRY_URL' : 'SKERRY_ENV'} instead.`
    await confirmOrRefuse(`changes skerry.json${places}${server}, for everyone who uses it`, flags, next)
  }
  const pin = await pinForProject(session.settings, (await session.org()).id)
  const file = isOnlyMoved ? writeMoved(moved) : entryOf({ found, url }, org, folder).write({ app, env }, pin)
  note(
    `wrote ${relative(folder, file) || file}: ${org}, ${place.label}${moved ? ` at ${url}` : ''}. It holds no secret: commit it`,
  )
  const canRead = await noteAccess(session, place)
  return { json: { file, ...jsonOf(session, org, place), canRead, changed: true } }
}

/** The folder needs no entry of its own if only the address of its server changes. */
function writeMoved({ file, project }: NonNullable<Settings['found']>): string {
  writeProject(file, project)
  return file
}

/**
 * A credential that reaches several organizations needs a choice. The server is asked, because this machine may remember
 * the organization from a time when the person was in no other.
 */
async function chooseOrg(session: Session, wanted: string | undefined): Promise<Session> {
  if (session.principal.type !== 'user' || (wanted ?? session.settings.org) !== undefined) return session
  const { orgs } = await session.client.me.get()
  if (orgs.length < 2) return session
  if (!canAsk()) throw unsaid('organization', orgs, '--org')
  return session.withOrg(await askOrg(orgs))
}

async function chooseApp(session: Session, wanted: string | undefined): Promise<string> {
  if (wanted !== undefined) return (await findApp(session, wanted)).slug
  const org = await session.org()
  const apps = await listApps(session)
  if (apps.length === 0) {
    throw new Failure('notFound', `${org.slug} has no application yet`, 'run `skerry init`, which creates one')
  }
  if (!canAsk()) throw unsaid('application', apps, '--app')
  return apps.length === 1 ? apps[0]!.slug : askApp(org, apps)
}

async function chooseEnvironment(session: Session, app: string, wanted: string | undefined): Promise<string> {
  if (wanted !== undefined) return wanted
  const environments = await listEnvironments(session, await findApp(session, app))
  if (environments.length === 0) {
    const next = `run \`skerry env create development --app ${app}\``
    throw new Failure('notFound', `${app} has no environment yet`, next)
  }
  if (!canAsk()) throw unsaid(`environment of ${app}`, environments, '--env')
  return environments.length === 1 ? environments[0]!.slug : askEnvironment(environments)
}

const unsaid = (what: string, there: readonly { slug: string }[], option: string) =>
  usage(`no ${what} is named`, `add ${option} with one of: ${there.map(({ slug }) => slug).join(', ')}`)
