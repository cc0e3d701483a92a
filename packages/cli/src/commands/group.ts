import type { Command } from 'commander'
import { contentsOf } from '../contents.ts'
import { type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { checkOwner, forgetName, noteNew } from '../known-names.ts'
import { checkSlug } from '../names.ts'
import { confirmable, explained, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { checkNames, findGroup } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { noteRemoved } from '../removed-layers.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { environmentCells, environmentHeader } from '../tables.ts'
import { typedOwner } from '../typed-names.ts'

export function register(command: Command): void {
  leaf(command, 'ls', 'List groups').action(inOrg(list))
  explained(
    leaf(command, 'create <slug>', 'Create a group'),
    'Give it environments with `skerry env create <slug> --group <group>`.',
  )
    .option('--name <name>', 'display name (default: the slug)')
    .action(inOrg(create, checkCreate))
  leaf(command, 'show <group>', 'Show a group and its environments').action(signedIn(show))
  leaf(command, 'rename <group> <name>', 'Change the display name of a group; the slug stays').action(signedIn(rename))
  confirmable(leaf(command, 'rm <group>', 'Delete a group with its environments and secrets')).action(signedIn(remove))
}

const checkCreate = (_flags: Flags, slug: string) => {
  checkSlug(slug, 'a group')
}

async function create(slug: string, { session, flags, orgId }: InOrg<Flags & { name?: string }>): Promise<Output> {
  const body = { slug, name: flags.name ?? slug }
  const { group } = await session.client.groups.create({ params: { orgId }, body })
  noteNew(session, orgId, { kind: 'group', id: group.id, name: slug })
  note(`created group ${group.slug}; next: \`skerry env create <environment> --group ${group.slug}\``)
  return { json: { group }, text: () => writeLine(group.id) }
}

async function list({ session, orgId }: InOrg): Promise<Output> {
  const { groups } = await session.client.groups.list({ params: { orgId } })
  return {
    json: { groups },
    text: () =>
      writeTable(
        ['slug', 'name', 'id'],
        groups.map(({ slug, name, id }) => [slug, name, id]),
        'no groups yet; create one with `skerry group create <slug>`',
      ),
  }
}

async function show(slug: string, { session }: SignedIn): Promise<Output> {
  const { id: groupId, orgId } = await findGroup(session, slug)
  const detail = await session.client.groups.get({ params: { orgId, groupId } })
  return {
    json: detail,
    text: () => {
      writeLine(`${detail.group.slug} (${detail.group.name}), ${detail.group.id}`)
      writeTable(
        environmentHeader,
        detail.environments.map(environmentCells),
        'no environments yet; create one with `skerry env create <env> --group <group>`',
      )
    },
  }
}

async function rename(slug: string, name: string, { session }: SignedIn): Promise<Output> {
  const found = await findGroup(session, slug)
  checkOwner(session, 'group', found, slug)
  const { id: groupId, orgId } = found
  const { group } = await session.client.groups.update({ params: { orgId, groupId }, body: { name } })
  note(`${group.slug} is called ${group.name} now`)
  return { json: { group } }
}

async function remove(slug: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const group = await findGroup(session, slug)
  checkOwner(session, 'group', group, slug)
  const params = { orgId: group.orgId, groupId: group.id }
  const { environments } = await session.client.groups.envs({ params })
  const named = environments.map((one) => ({ label: `${group.slug}:${one.slug}`, envId: one.id }))
  await checkNames(session, group.orgId, named)
  const contents = await contentsOf(session, environments)
  await confirmOrRefuse(`deletes group ${group.slug} with ${contents}, and removes it from every environment`, flags)
  const { typed } = typedOwner(session, group.orgId, slug)
  await session.client.groups.delete({ params }, { typed })
  forgetName(session, group.orgId, group.id)
  // A slug that only the server shows would excuse missing layers of another group.
  if (typed.owner !== undefined) noteRemoved(typed.owner, environments)
  note(`deleted group ${group.slug}`)
  return { json: { deleted: group.id } }
}
