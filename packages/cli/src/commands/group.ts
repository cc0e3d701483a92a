import type { Command } from 'commander'
import { contentsOf } from '../contents.ts'
import { checkSlug } from '../names.ts'
import { confirmable, leaf } from '../options.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { findGroup } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { noteRemoved } from '../removed-layers.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'
import { environmentCells, environmentHeader } from '../tables.ts'

export function register(command: Command): void {
  leaf(command, 'create <slug>', 'Create a group; give it environments with `skerry env create <slug> --group`')
    .option('--name <name>', 'name for people')
    .action(create)
  leaf(command, 'list', 'List groups').action(list)
  leaf(command, 'show <slug>', 'A group with its environments').action(show)
  leaf(command, 'rename <slug> <name>', 'Give a group another name; its slug stays').action(rename)
  confirmable(leaf(command, 'delete <slug>', 'Delete a group and everything in it')).action(remove)
}

async function create(slug: string, flags: Flags & { name?: string }): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const body = { slug: checkSlug(slug, 'a group'), name: flags.name ?? slug }
  const { group } = await session.client.groups.create({ params: { orgId }, body })
  note(`created group ${group.slug}; next: \`skerry env create <environment> --group ${group.slug}\``)
  if (flags.json) writeJson({ group })
  else writeLine(group.id)
}

async function list(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { groups } = await session.client.groups.list({ params: { orgId } })
  if (flags.json) return writeJson({ groups })
  writeTable(
    ['slug', 'name', 'id'],
    groups.map(({ slug, name, id }) => [slug, name, id]),
  )
}

async function show(slug: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: groupId, orgId } = await findGroup(session, slug)
  const detail = await session.client.groups.get({ params: { orgId, groupId } })
  if (flags.json) return writeJson(detail)
  writeLine(`${detail.group.slug} (${detail.group.name}), ${detail.group.id}`)
  writeTable(environmentHeader, detail.environments.map(environmentCells))
}

async function rename(slug: string, name: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: groupId, orgId } = await findGroup(session, slug)
  const { group } = await session.client.groups.update({ params: { orgId, groupId }, body: { name } })
  note(`${group.slug} is called ${group.name} now`)
  if (flags.json) writeJson({ group })
}

async function remove(slug: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const group = await findGroup(session, slug)
  const params = { orgId: group.orgId, groupId: group.id }
  const { environments } = await session.client.groups.envs({ params })
  const contents = await contentsOf(session, environments)
  await confirmOrRefuse(`deletes group ${group.slug} with ${contents}, and removes it from every environment`, flags)
  await session.client.groups.delete({ params })
  noteRemoved(group.slug, environments)
  note(`deleted group ${group.slug}`)
  if (flags.json) writeJson({ deleted: group.id })
}
