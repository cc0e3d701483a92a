import type { Command } from 'commander'
import { contentsOf } from '../contents.ts'
import { checkSlug } from '../names.ts'
import { confirmable, leaf } from '../options.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { findApp } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'
import { environmentCells, environmentHeader } from '../tables.ts'

export function register(command: Command): void {
  leaf(command, 'create <slug>', 'Create an application').option('--name <name>', 'name for people').action(create)
  leaf(command, 'list', 'List applications').action(list)
  leaf(command, 'show <slug>', 'An application with its environments').action(show)
  leaf(command, 'rename <slug> <name>', 'Give an application another name; its slug stays').action(rename)
  confirmable(leaf(command, 'delete <slug>', 'Delete an application and everything in it')).action(remove)
}

async function create(slug: string, flags: Flags & { name?: string }): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const body = { slug: checkSlug(slug, 'an application'), name: flags.name ?? slug }
  const { app } = await session.client.apps.create({ params: { orgId }, body })
  note(`created application ${app.slug}`)
  if (flags.json) writeJson({ app })
  else writeLine(app.id)
}

async function list(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { apps } = await session.client.apps.list({ params: { orgId } })
  if (flags.json) return writeJson({ apps })
  writeTable(
    ['slug', 'name', 'id'],
    apps.map(({ slug, name, id }) => [slug, name, id]),
  )
}

async function show(slug: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: appId, orgId } = await findApp(session, slug)
  const detail = await session.client.apps.get({ params: { orgId, appId } })
  if (flags.json) return writeJson(detail)
  writeLine(`${detail.app.slug} (${detail.app.name}), ${detail.app.id}`)
  writeTable(environmentHeader, detail.environments.map(environmentCells))
}

async function rename(slug: string, name: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: appId, orgId } = await findApp(session, slug)
  const { app } = await session.client.apps.update({ params: { orgId, appId }, body: { name } })
  note(`${app.slug} is called ${app.name} now`)
  if (flags.json) writeJson({ app })
}

async function remove(slug: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const app = await findApp(session, slug)
  const params = { orgId: app.orgId, appId: app.id }
  const { environments } = await session.client.apps.envs({ params })
  const contents = await contentsOf(session, environments)
  await confirmOrRefuse(`deletes application ${app.slug} with ${contents}, and all branches`, flags)
  await session.client.apps.delete({ params })
  note(`deleted application ${app.slug}`)
  if (flags.json) writeJson({ deleted: app.id })
}
