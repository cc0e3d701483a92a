import type { Command } from 'commander'
import { contentsOf } from '../contents.ts'
import { type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { checkOwner, forgetName, noteNew } from '../known-names.ts'
import { checkSlug } from '../names.ts'
import { confirmable, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { checkNames, findApp } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { environmentCells, environmentHeader } from '../tables.ts'
import { typedOwner } from '../typed-names.ts'

export function register(command: Command): void {
  leaf(command, 'ls', 'List applications').action(inOrg(list))
  leaf(command, 'create <slug>', 'Create an application')
    .option('--name <name>', 'display name (default: the slug)')
    .action(inOrg(create, checkCreate))
  leaf(command, 'show <app>', 'Show an application and its environments').action(signedIn(show))
  leaf(command, 'rename <app> <name>', 'Change the display name of an application; the slug stays').action(
    signedIn(rename),
  )
  confirmable(leaf(command, 'rm <app>', 'Delete an application with its environments and secrets')).action(
    signedIn(remove),
  )
}

const checkCreate = (_flags: Flags, slug: string) => {
  checkSlug(slug, 'an application')
}

async function create(slug: string, { session, flags, orgId }: InOrg<Flags & { name?: string }>): Promise<Output> {
  const body = { slug, name: flags.name ?? slug }
  const { app } = await session.client.apps.create({ params: { orgId }, body })
  noteNew(session, orgId, { kind: 'application', id: app.id, name: slug })
  note(`created application ${app.slug}`)
  return { json: { app }, text: () => writeLine(app.id) }
}

async function list({ session, orgId }: InOrg): Promise<Output> {
  const { apps } = await session.client.apps.list({ params: { orgId } })
  return {
    json: { apps },
    text: () =>
      writeTable(
        ['slug', 'name', 'id'],
        apps.map(({ slug, name, id }) => [slug, name, id]),
        'no applications yet; create one with `skerry app create <slug>`',
      ),
  }
}

async function show(slug: string, { session }: SignedIn): Promise<Output> {
  const { id: appId, orgId } = await findApp(session, slug)
  const detail = await session.client.apps.get({ params: { orgId, appId } })
  return {
    json: detail,
    text: () => {
      writeLine(`${detail.app.slug} (${detail.app.name}), ${detail.app.id}`)
      writeTable(
        environmentHeader,
        detail.environments.map(environmentCells),
        'no environments yet; create one with `skerry env create <env>`',
      )
    },
  }
}

async function rename(slug: string, name: string, { session }: SignedIn): Promise<Output> {
  const found = await findApp(session, slug)
  checkOwner(session, 'application', found, slug)
  const { id: appId, orgId } = found
  const { app } = await session.client.apps.update({ params: { orgId, appId }, body: { name } })
  note(`renamed ${app.slug} to ${app.name}`)
  return { json: { app } }
}

async function remove(slug: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const app = await findApp(session, slug)
  checkOwner(session, 'application', app, slug)
  const params = { orgId: app.orgId, appId: app.id }
  const { environments } = await session.client.apps.envs({ params })
  const named = environments.map((one) => ({ label: `${app.slug}/${one.slug}`, envId: one.id }))
  await checkNames(session, app.orgId, named)
  const contents = await contentsOf(session, environments)
  await confirmOrRefuse(`deletes application ${app.slug} with ${contents}, and all branches`, flags)
  await session.client.apps.delete({ params }, typedOwner(session, app.orgId, slug))
  forgetName(session, app.orgId, app.id)
  note(`deleted application ${app.slug}`)
  return { json: { deleted: app.id } }
}
