import { createEnvironment } from '@skerry/sdk/environments'
import type { Command } from 'commander'
import { usage } from '../failure.ts'
import { checkSlug } from '../names.ts'
import { confirmable, leaf } from '../options.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { findApp, findGroup, findPlace, namedPlace } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { environmentCells, environmentHeader } from '../tables.ts'

const owned = (command: Command) =>
  command.option('--app <slug>', 'application').option('--group <slug>', 'group, instead of an application')

export function register(command: Command): void {
  owned(leaf(command, 'create <slug>', 'Create an environment; its key is made here'))
    .option('--name <name>', 'name for people')
    .action(create)
  owned(leaf(command, 'list', 'List environments')).action(list)
  owned(leaf(command, 'show <slug>', 'An environment: groups, branches, who can read it')).action(show)
  confirmable(owned(leaf(command, 'delete <slug>', 'Delete an environment and its secrets'))).action(remove)
}

async function create(slug: string, flags: Flags & { name?: string }): Promise<void> {
  const session = await openSession(flags)
  const owner = await ownerOf(session, flags)
  const place = { ...owner.params, name: flags.name ?? slug, slug: checkSlug(slug, 'an environment') }
  const { environment } = await createEnvironment(session.client, place, session.parsed.publicKeyJwk)
  note(`created environment ${owner.label}${slug}; only this credential can read it until you grant others`)
  if (flags.json) writeJson({ environment })
  else writeLine(environment.id)
}

async function list(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { params } = await ownerOf(session, flags)
  const { environments } =
    params.appId !== undefined
      ? await session.client.apps.envs({ params })
      : await session.client.groups.envs({ params })
  if (flags.json) return writeJson({ environments })
  writeTable(environmentHeader, environments.map(environmentCells))
}

async function show(slug: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const place = await findPlace(session, { ...namedPlace(session, flags), env: slug, branch: undefined })
  const params = { orgId: place.orgId, envId: place.envId }
  const isApp = place.kind === 'app'
  const [{ grantees }, { groups }, { branches }] = await Promise.all([
    session.client.envs.grantees({ params }),
    isApp ? session.client.composition.list({ params }) : { groups: [] },
    isApp ? session.client.branches.list({ params }) : { branches: [] },
  ])
  if (flags.json) return writeJson({ environment: place.environment, groups, branches, grantees })
  writeLine(`${place.label} (${place.environment.name}), ${place.envId}`)
  if (isApp) writeLine(`groups: ${groups.map((group) => group.slug).join(', ') || 'none'}`)
  if (isApp) writeLine(`branches: ${branches.map((branch) => branch.slug).join(', ') || 'none'}`)
  const rows = grantees.map((one) => [one.name ?? '', one.principalType, one.principalId])
  writeTable(['can read', 'type', 'id'], rows)
}

async function remove(slug: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const place = await findPlace(session, { ...namedPlace(session, flags), env: slug, branch: undefined })
  await confirmOrRefuse(`delete environment ${place.label} with its branches and secrets`, flags)
  await session.client.envs.delete({ params: { orgId: place.orgId, envId: place.envId } })
  note(`deleted environment ${place.label}`)
  if (flags.json) writeJson({ deleted: place.envId })
}

async function ownerOf(session: Session, flags: Flags) {
  if (flags.group !== undefined && flags.app !== undefined) throw usage('--app and --group exclude each other')
  if (flags.group !== undefined) {
    const group = await findGroup(session, flags.group)
    return { params: { orgId: group.orgId, groupId: group.id }, label: `${group.slug}:` }
  }
  const app = await findApp(session, session.settings.app)
  return { params: { orgId: app.orgId, appId: app.id }, label: `${app.slug}/` }
}
