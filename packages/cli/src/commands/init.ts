import { existsSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import type { Command } from 'commander'
import { usage } from '../failure.ts'
import { ensureEnvironments, findEnvironments } from '../first-run/environments.ts'
import { type ImportFlags, importInto, readImport } from '../first-run/import-file.ts'
import { adviseGrant } from '../first-run/person.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { checkSlug, slugFrom } from '../names.ts'
import { accepting, common, confirmable, explained } from '../options.ts'
import { note, type Output } from '../output.ts'
import { type FoundProject, findProject, type Project, projectFileName, writeProject } from '../project.ts'
import { askChoice, canAsk } from '../prompt.ts'
import type { ReaderFlags } from '../readers.ts'
import { recoveryName } from '../recovery/key.ts'
import type { Session } from '../session.ts'

interface Options extends ImportFlags, ReaderFlags {
  name?: string
}

export function register(command: Command): void {
  explained(
    accepting(confirmable(common(command))),
    'Creates the environments development, staging and production, and writes skerry.json. In a monorepo, a subfolder is added to the skerry.json of the folder above.',
  )
    .option('--app <slug>', 'application (default: the name of the folder)')
    .option('--env <slug>', 'create and use only this environment')
    .option('--name <name>', 'display name of the application (default: the name of the folder)')
    .option('--import <file>', 'file with values to write, such as .env; stored values stay')
    .action(signedIn(init, parseInit))
}

async function init({
  session,
  flags,
  input: { folder, values },
}: SignedIn<Options, typeof parseInit>): Promise<Output> {
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
  const named = flags.env ?? (process.env.SKERRY_ENV || (known?.app === app ? known.env : undefined))
  const usual = named ?? known?.env ?? above?.scope.env
  const env = usual ?? (picks ? await pickEnvironment(session, app) : 'development')
  checkSlug(app, 'an application')
  checkSlug(env, 'an environment')
  const wanted = { app, env, isNamed: named !== undefined, name: flags.name ?? nameFor(app, folder) }
  const { created, isReadable } = await ensureEnvironments(session, wanted, flags)
  const scope = { url, org: org.slug, app, env }
  const file = above ? addToPaths(above, folder, { app, env }) : writeOwn(own, folder, scope)
  note(`wrote ${relative(folder, file) || file}: ${org.slug}, ${app}/${env}. It holds no secret: commit it`)
  const imported = await importInto(session, { app, env, isReadable }, values, flags)
  note(`next: ${nextStep(flags)}, then \`skerry run -- <program>\``)
  if (created.length > 0) await adviseGrant(session)
  return { json: { file, ...scope, created, imported } }
}

async function parseInit(flags: Options) {
  const other = flags.reader?.find((one) => one !== recoveryName)
  if (other !== undefined)
    throw usage(
      `--reader ${other} matches no reader of this command; nothing was changed`,
      `\`skerry init\` asks about the recovery key alone: --reader ${recoveryName}`,
    )
  const folder = process.cwd()
  const values = await readImport(flags)
  return { folder, values }
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
  const { environments } = await findEnvironments(session, appSlug)
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

/** The step after `init`. A folder with a `.env` begins with its values. */
function nextStep(flags: Options): string {
  if (flags.import !== undefined) return '`skerry secrets ls`'
  return existsSync('.env') ? '`skerry secrets import .env`' : '`skerry secrets set NAME`, which asks for the value'
}
