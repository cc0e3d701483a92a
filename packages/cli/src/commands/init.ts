import { basename, join, relative, sep } from 'node:path'
import { createEnvironment } from '@skerry/sdk/environments'
import type { Command } from 'commander'
import { describe, Failure, usage } from '../failure.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { noteKeyMade } from '../known-readers.ts'
import { checkSlug, slugFrom } from '../names.ts'
import { noKey } from '../no-key.ts'
import { accepting, common, confirmable } from '../options.ts'
import { note, type Output, warn } from '../output.ts'
import type { App } from '../places.ts'
import { type FoundProject, findProject, type Project, projectFileName, writeProject } from '../project.ts'
import { ask, askChoice, canAsk } from '../prompt.ts'
import { acceptReaders, type ReaderFlags } from '../readers.ts'
import { recoveryName, withRecovery } from '../recovery/key.ts'
import { ownPublicKey, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags, ReaderFlags {
  name?: string
  yes?: boolean
}

export function register(command: Command): void {
  accepting(confirmable(common(command)))
    .option('--app <slug>', 'application; the folder’s name unless given')
    .option('--env <slug>', 'environment; development unless given')
    .option('--name <name>', 'the application’s name for people; the folder’s, or the slug, unless given')
    .addHelpText(
      'after',
      '\nBelow a folder that has a skerry.json of the same server and organization, the folder is added to its paths.',
    )
    .action(signedIn(init, parseInit))
}

async function init({ session, flags, input: { folder } }: SignedIn<Options, typeof parseInit>): Promise<Output> {
  const { found, url } = session.settings
  const org = await session.org()
  const own = found?.file === join(folder, projectFileName) ? found : null
  const above = found && !own && isOf(found.project, url, org.slug) ? found : null
  // A skerry.json of a folder above names its own application, and not the one of this folder.
  const known = above ? ownEntry(above, folder) : own?.project
  const picks = canAsk() && !flags.yes
  const byFolder = slugFrom(basename(folder))
  const app = flags.app ?? process.env.SKERRY_APP ?? known?.app ?? (picks ? await pickApp(session, byFolder) : byFolder)
  if (app === undefined) throw usage('no application’s slug can be made from this folder’s name', 'add --app <slug>')
  const usual = known?.env ?? above?.scope.env
  const env =
    flags.env ?? process.env.SKERRY_ENV ?? usual ?? (picks ? await pickEnvironment(session, app) : 'development')
  checkSlug(app, 'an application')
  checkSlug(env, 'an environment')
  const made = await ensure(session, { app, env, name: flags.name ?? nameFor(app, folder) }, flags)
  const scope = { url, org: org.slug, app, env }
  const file = above ? addToPaths(above, folder, { app, env }) : writeOwn(own, folder, scope)
  note(`wrote ${relative(folder, file) || file}: ${org.slug}, ${app}/${env}. It holds no secret: commit it`)
  note('next: `skerry secrets set NAME`, which asks for the value, then `skerry run -- <program>`')
  return { json: { file, ...scope, created: made } }
}

function parseInit(flags: Options) {
  const other = flags.reader?.find((one) => one !== recoveryName)
  if (other !== undefined)
    throw usage(
      `--reader ${other} matches no reader of this command; nothing was changed`,
      `\`skerry init\` asks about the recovery key alone: --reader ${recoveryName}`,
    )
  const folder = process.cwd()
  return { folder }
}

/** Whether the file has this server and organization, so that the folder can be an entry of its `paths`. */
const isOf = (project: Project, url: string, org: string) =>
  (project.url === undefined || URL.parse(project.url)?.href === URL.parse(url)?.href) &&
  (project.org === undefined || project.org === org)

const whatIsNew = 'new'

/**
 * Asks for one of the existing applications, or the one that the folder’s name would give. It does not ask if there are
 * none.
 */
async function pickApp(session: Session, byFolder: string | undefined): Promise<string | undefined> {
  const { id: orgId, slug } = await session.org()
  const { apps } = await session.client.apps.list({ params: { orgId } })
  const [first] = apps
  if (!first) return byFolder
  const there = apps.map((app) => ({ value: app.slug, hint: app.name }))
  const isNew = byFolder !== undefined && !apps.some((app) => app.slug === byFolder)
  const choices = isNew ? [...there, { value: byFolder, hint: whatIsNew }] : there
  return askChoice(`Which application of ${slug} is this folder?`, choices, byFolder ?? first.slug)
}

async function pickEnvironment(session: Session, appSlug: string): Promise<string> {
  const { id: orgId } = await session.org()
  const { apps } = await session.client.apps.list({ params: { orgId } })
  const app = apps.find(({ slug }) => slug === appSlug)
  const environments = app ? (await session.client.apps.envs({ params: { orgId, appId: app.id } })).environments : []
  const [first] = environments
  if (!first || environments.length === 1) return first?.slug ?? 'development'
  const choices = environments.map(({ slug, name, canDecrypt }) => ({
    value: slug,
    hint: canDecrypt ? name : `${name}; you hold no key`,
  }))
  const usual = environments.find(({ slug }) => slug === 'development') ?? first
  return askChoice('Which environment do you work with here?', choices, usual.slug)
}

/** A folder `My Shop` gives the application my-shop its name. An application with another slug is named by its slug. */
const nameFor = (app: string, folder: string) => (slugFrom(basename(folder)) === app ? basename(folder) : app)

function ownEntry(found: FoundProject, folder: string) {
  return findProject(folder)?.project.paths?.[pathIn(found, folder)]
}

const pathIn = (found: FoundProject, folder: string) => relative(join(found.file, '..'), folder).split(sep).join('/')

function writeOwn(found: FoundProject | null, folder: string, scope: Project): string {
  const file = join(folder, projectFileName)
  const { paths, allowNames } = found?.project ?? {}
  writeProject(file, { ...scope, ...(paths ? { paths } : {}), ...(allowNames ? { allowNames } : {}) })
  return file
}

function addToPaths(found: FoundProject, folder: string, scope: { app: string; env: string }): string {
  const paths = { ...found.project.paths, [pathIn(found, folder)]: scope }
  writeProject(found.file, { ...found.project, paths })
  return found.file
}

/**
 * Creates the application and the environment if they do not exist yet, and returns what it created. On a terminal it
 * asks first.
 */
async function ensure(session: Session, wanted: { app: string; env: string; name: string }, flags: Options) {
  const { id: orgId, slug: orgSlug } = await session.org()
  const { apps } = await session.client.apps.list({ params: { orgId } })
  const app = apps.find((one) => one.slug === wanted.app)
  const environments = app ? (await session.client.apps.envs({ params: { orgId, appId: app.id } })).environments : []
  const environment = environments.find((one) => one.slug === wanted.env)
  if (environment) {
    if (!environment.canDecrypt) warn(describe(await noKey(session, `${wanted.app}/${wanted.env}`)))
    return []
  }
  const missing = [...(app ? [] : [`application ${wanted.app}`]), `environment ${wanted.env}`]
  if (!flags.yes && canAsk() && !(await ask(`create ${missing.join(' and ')} in ${orgSlug}?`))) {
    throw new Failure('failure', 'nothing was changed', 'name existing ones with --app and --env')
  }
  // Done before anything is created, so that a person without keys does not leave an application without an
  // environment.
  const publicKeyJwk = await ownPublicKey(session)
  const recovery = await withRecovery(session)
  await (await acceptReaders(session, recovery, flags)).keep()
  const owner = app ?? (await createApp(session, orgId, wanted))
  const place = { orgId, appId: owner.id, name: wanted.env, slug: wanted.env, ...recovery }
  const { environment: made, key } = await createEnvironment(session.client, place, publicKeyJwk)
  const named = { orgId, name: `${wanted.app}/${wanted.env}`, environmentId: made.id }
  await session.knownState.reading.made(named, key.bytes)
  await noteKeyMade(session, { orgId, envId: made.id }, key)
  note(`created ${missing.join(' and ')} in ${orgSlug}`)
  return missing
}

async function createApp(
  session: Session,
  orgId: string,
  { app: slug, name }: { app: string; name: string },
): Promise<App> {
  return (await session.client.apps.create({ params: { orgId }, body: { slug, name: name.slice(0, 200) } })).app
}
