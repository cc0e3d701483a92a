import { existsSync } from 'node:fs'
import { basename, relative } from 'node:path'
import type { Command } from 'commander'
import { usage } from '../failure.ts'
import { ensureEnvironments, findEnvironments } from '../first-run/environments.ts'
import { type ImportFlags, importInto, readImport } from '../first-run/import-file.ts'
import { adviseGrant, tellReaders, warnOfLoss } from '../first-run/person.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { pinForProject } from '../known-directories.ts'
import { checkSlug, slugFrom } from '../names.ts'
import { accepting, common, confirmable, explained } from '../options.ts'
import { note, type Output } from '../output.ts'
import { askApp, askEnvironment, listApps } from '../place-picker.ts'
import { entryOf } from '../project-entry.ts'
import { canAsk, confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
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
  const org = await session.org()
  const { known, usualEnv, write } = entryOf(session.settings, org.slug, folder)
  const picks = canAsk() && !flags.yes
  const byFolder = slugFrom(basename(folder))
  const app = flags.app ?? process.env.SKERRY_APP ?? known?.app ?? (picks ? await pickApp(session, byFolder) : byFolder)
  if (app === undefined) throw usage('no application’s slug can be made from this folder’s name', 'add --app <slug>')
  const named = flags.env ?? (process.env.SKERRY_ENV || (known?.app === app ? known.env : undefined))
  const usual = named ?? known?.env ?? usualEnv
  const env = usual ?? (picks ? await pickEnvironment(session, app) : 'development')
  checkSlug(app, 'an application')
  checkSlug(env, 'an environment')
  await confirmChange(known, { app, env }, flags)
  const wanted = { app, env, isNamed: named !== undefined, name: flags.name ?? nameFor(app, folder) }
  const { created, labels, recovery, isReadable } = await ensureEnvironments(session, wanted, flags)
  const pin = await pinForProject(session.settings, org.id)
  const file = write({ app, env }, pin)
  note(`wrote ${relative(folder, file) || file}: ${org.slug}, ${app}/${env}. It holds no secret: commit it`)
  const imported = await importInto(session, { app, env, isReadable }, values, flags)
  note(`next: ${nextStep(flags)}, then \`skerry run -- <program>\``)
  if (created.length > 0) {
    tellReaders(session, labels, recovery)
    await warnOfLoss(session, labels, recovery)
    await adviseGrant(session)
  }
  return { json: { file, url: session.settings.url, org: org.slug, app, env, created, imported } }
}

/** The file may be committed. As `skerry setup` does, asks before it changes the place of everyone who uses it. */
async function confirmChange(
  known: { app?: string; env?: string } | undefined,
  { app, env }: { app: string; env: string },
  flags: Options,
): Promise<void> {
  if (known?.app === undefined || known.env === undefined || (known.app === app && known.env === env)) return
  const change = `from ${known.app}/${known.env} to ${app}/${env}, for everyone who uses it`
  await confirmOrRefuse(
    `changes skerry.json ${change}`,
    flags,
    `Run again with --yes. To use ${app}/${env} without changing the file, set SKERRY_APP and SKERRY_ENV for your other commands instead of running \`skerry init\`.`,
  )
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

/**
 * Asks for one of the existing applications, or the one that the folder’s name would give. It does not ask if there are
 * none.
 */
async function pickApp(session: Session, byFolder: string | undefined): Promise<string | undefined> {
  const apps = await listApps(session)
  if (apps.length === 0) return byFolder
  return askApp(await session.org(), apps, byFolder)
}

async function pickEnvironment(session: Session, appSlug: string): Promise<string> {
  const { environments } = await findEnvironments(session, appSlug)
  const [first] = environments
  return !first || environments.length === 1 ? (first?.slug ?? 'development') : askEnvironment(environments)
}

/** A folder `My Shop` gives the application my-shop its name. An application with another slug is named by its slug. */
const nameFor = (app: string, folder: string) => (slugFrom(basename(folder)) === app ? basename(folder) : app)

/** The step after `init`. A folder with a `.env` begins with its values. */
function nextStep(flags: Options): string {
  if (flags.import !== undefined) return '`skerry secrets ls`'
  return existsSync('.env') ? '`skerry secrets import .env`' : '`skerry secrets set NAME`, which asks for the value'
}
