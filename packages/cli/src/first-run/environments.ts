import { createEnvironment } from '@skerry/sdk/environments'
import { describe, Failure, toFailure } from '../failure.ts'
import { noteKeyMade } from '../known-readers.ts'
import { noKey } from '../no-key.ts'
import { note, warn } from '../output.ts'
import type { App } from '../places.ts'
import { ask, canAsk } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptReaders } from '../readers.ts'
import { withRecovery } from '../recovery/key.ts'
import { ownPublicKey, type Session } from '../session.ts'

/** The environments of a new application, unless the command line or `skerry.json` names one. */
const usualEnvironments = ['development', 'staging', 'production']

interface Wanted {
  app: string
  /** The application’s name for people. */
  name: string
  env: string
  /** Whether somebody named `env`. If not, an application without environments gets the usual ones. */
  isNamed: boolean
}

interface Ensured {
  created: string[]
  /** The new environments. */
  labels: string[]
  /** The recovery key that they were given. */
  recovery: Awaited<ReturnType<typeof withRecovery>>
  /** True if this credential can read the environment of the folder. */
  isReadable: boolean
}

/** Creates the application and its environments if they do not exist yet. On a terminal it asks first. */
export async function ensureEnvironments(
  session: Session,
  wanted: Wanted,
  flags: ReaderFlags & { yes?: boolean },
): Promise<Ensured> {
  const { id: orgId, slug: orgSlug } = await session.org()
  const { app, environments } = await findEnvironments(session, wanted.app)
  const environment = environments.find(({ slug }) => slug === wanted.env)
  if (environment) {
    if (!environment.canDecrypt) warn(describe(await noKey(session, `${wanted.app}/${wanted.env}`)))
    return { created: [], labels: [], recovery: {}, isReadable: environment.canDecrypt }
  }
  const isUsual = !wanted.isNamed && environments.length === 0 && usualEnvironments.includes(wanted.env)
  const missing = isUsual ? usualEnvironments : [wanted.env]
  const parts = [...(app ? [] : [`application ${wanted.app}`]), nameAll(missing)]
  if (!flags.yes && canAsk() && !(await ask(`create ${parts.join(' and ')} in ${orgSlug}?`, true))) {
    throw new Failure('failure', 'nothing was changed', 'name existing ones with --app and --env')
  }
  // Done before anything is created, so that a person without keys does not leave an application without an
  // environment.
  const publicKeyJwk = await ownPublicKey(session)
  const recovery = await withRecovery(session, flags)
  await (await acceptReaders(session, recovery, flags)).keep()
  const owner = app ?? (await createApp(session, orgId, wanted))
  const made: string[] = []
  for (const slug of missing) {
    const place = { orgId, appId: owner.id, name: slug, slug, owner: wanted.app, ...recovery }
    await create(session, place, `${wanted.app}/${slug}`, publicKeyJwk).catch((error) => {
      throw incomplete(error, made, wanted.app, slug)
    })
    made.push(slug)
  }
  note(`created ${parts.join(' and ')} in ${orgSlug}`)
  const created = [...(app ? [] : [`application ${wanted.app}`]), ...made.map((slug) => `environment ${slug}`)]
  return { created, labels: made.map((slug) => `${wanted.app}/${slug}`), recovery, isReadable: true }
}

/** The application of this slug, if it exists, and its environments. */
export async function findEnvironments(session: Session, slug: string) {
  const { id: orgId } = await session.org()
  const { apps } = await session.client.apps.list({ params: { orgId } })
  const app = apps.find((one) => one.slug === slug)
  const environments = app ? (await session.client.apps.envs({ params: { orgId, appId: app.id } })).environments : []
  return { app, environments }
}

type NewPlace = Parameters<typeof createEnvironment>[1]

async function create(session: Session, place: NewPlace, name: string, publicKeyJwk: string): Promise<void> {
  const { environment, key } = await createEnvironment(session.client, place, publicKeyJwk)
  const named = { orgId: place.orgId, name, environmentId: environment.id }
  await session.knownState.reading.made(named, key.bytes)
  await noteKeyMade(session, { orgId: place.orgId, envId: environment.id }, key)
}

async function createApp(
  session: Session,
  orgId: string,
  { app: slug, name }: { app: string; name: string },
): Promise<App> {
  return (await session.client.apps.create({ params: { orgId }, body: { slug, name: name.slice(0, 200) } })).app
}

/** The second run would find an application with environments, and create only the one that the folder uses. */
function incomplete(error: unknown, made: string[], app: string, slug: string): unknown {
  if (made.length === 0) return error
  const { kind, message } = toFailure(error)
  const what = `created ${nameAll(made)} of ${app}, but not ${slug}: ${message}`
  return new Failure(kind, what, `run \`skerry env create ${slug} --app ${app}\`, then \`skerry init\` again`)
}

function nameAll(slugs: string[]): string {
  if (slugs.length === 1) return `environment ${slugs[0]}`
  return `environments ${slugs.slice(0, -1).join(', ')} and ${slugs.at(-1)}`
}
