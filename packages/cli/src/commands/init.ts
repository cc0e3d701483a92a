import { basename, relative } from 'node:path'
import { createEnvironment } from '@skerry/sdk/environments'
import type { Command } from 'commander'
import { Failure, usage } from '../failure.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { noKey } from '../grants.ts'
import { noteKeyMade } from '../known-readers.ts'
import { checkSlug, slugFrom } from '../names.ts'
import { accepting, common, confirmable } from '../options.ts'
import { note, type Output, warn } from '../output.ts'
import { askApp, askEnvironment, listApps, listEnvironments } from '../place-picker.ts'
import type { App } from '../places.ts'
import { entryOf } from '../project-entry.ts'
import { ask, canAsk } from '../prompt.ts'
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
  const org = await session.org()
  const entry = entryOf(session.settings, org.slug, folder)
  const picks = canAsk() && !flags.yes
  const byFolder = slugFrom(basename(folder))
  const app =
    flags.app ?? process.env.SKERRY_APP ?? entry.known?.app ?? (picks ? await pickApp(session, byFolder) : byFolder)
  if (app === undefined) throw usage('no application’s slug can be made from this folder’s name', 'add --app <slug>')
  const usual = entry.known?.env ?? entry.usualEnv
  const env =
    flags.env ?? process.env.SKERRY_ENV ?? usual ?? (picks ? await pickEnvironment(session, app) : 'development')
  checkSlug(app, 'an application')
  checkSlug(env, 'an environment')
  const made = await ensure(session, { app, env, name: flags.name ?? nameFor(app, folder) }, flags)
  const file = entry.write({ app, env })
  note(`wrote ${relative(folder, file) || file}: ${org.slug}, ${app}/${env}. It holds no secret: commit it`)
  note('next: `skerry secrets set NAME`, which asks for the value, then `skerry run -- <program>`')
  return { json: { file, url: session.settings.url, org: org.slug, app, env, created: made } }
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
  const app = (await listApps(session)).find(({ slug }) => slug === appSlug)
  const environments = app ? await listEnvironments(session, app) : []
  const [first] = environments
  return !first || environments.length === 1 ? (first?.slug ?? 'development') : askEnvironment(environments)
}

/** A folder `My Shop` gives the application my-shop its name. An application with another slug is named by its slug. */
const nameFor = (app: string, folder: string) => (slugFrom(basename(folder)) === app ? basename(folder) : app)

/**
 * Creates the application and the environment if they do not exist yet, and returns what it created. On a terminal it
 * asks first.
 */
async function ensure(session: Session, wanted: { app: string; env: string; name: string }, flags: Options) {
  const { id: orgId, slug: orgSlug } = await session.org()
  const app = (await listApps(session)).find((one) => one.slug === wanted.app)
  const environments = app ? await listEnvironments(session, app) : []
  const environment = environments.find((one) => one.slug === wanted.env)
  if (environment) {
    if (!environment.canDecrypt) warn(noKeyText(session, wanted))
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

function noKeyText(session: Session, { app, env }: { app: string; env: string }): string {
  const { message, next } = noKey(session, `${app}/${env}`)
  return `${message}: ${next}`
}
