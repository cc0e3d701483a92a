import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'
import { findProject, listProjects, type Project } from './find.ts'
import { keyCells, keyHeader } from './keys.ts'

interface DisplayOptions extends Flags {
  shownAs?: string
  logo?: string
  accent?: string
  returnOrigin?: string[]
}

/** What is shown of it after the options; undefined where none of them was given. */
function displayOf({ shownAs, logo, accent, returnOrigin }: DisplayOptions, name: string, before?: Project['display']) {
  if ([shownAs, logo, accent, returnOrigin].every((one) => one === undefined)) return undefined
  const logoUrl = logo ?? before?.logoUrl
  const color = accent ?? before?.accent
  const returnOrigins = returnOrigin ?? before?.returnOrigins
  return {
    name: shownAs ?? before?.name ?? name,
    ...(logoUrl && { logoUrl }),
    ...(color && { accent: color }),
    ...(returnOrigins && { returnOrigins }),
  }
}

export async function create(name: string, flags: DisplayOptions): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const display = displayOf(flags, name)
  const body = { name, ...(display && { display }) }
  const { project } = await session.client.vaultProjects.create({ params: { orgId }, body })
  if (flags.json) writeJson({ project })
  else writeLine(project.id)
  note(`made vault project ${name}; next: \`skerry vault executor register-code\` and \`skerry vault key create\``)
}

export async function list(flags: Flags): Promise<void> {
  const { projects } = await listProjects(await openSession(flags))
  if (flags.json) return writeJson({ projects })
  writeTable(
    ['name', 'status', 'id'],
    projects.map(({ name, status, id }) => [name, status, id]),
  )
}

export async function show(wanted: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { place } = await findProject(session, wanted)
  const { project, keys, executor } = await session.client.vaultProjects.get({ params: place })
  if (flags.json) return writeJson({ project, keys, executor })
  const { name, id, status, display } = project
  writeLine(`${name} (${status}), ${id}`)
  writeLine(`shown as: ${display.name}`)
  writeLine(`people return to: ${display.returnOrigins.join(', ') || 'nowhere'}`)
  writeLine(`executor: ${executor ? `${executor.origin}, last seen ${executor.lastSeenAt ?? 'never'}` : 'none'}`)
  writeTable(keyHeader, keys.map(keyCells))
}

export async function update(wanted: string, flags: DisplayOptions & { name?: string }): Promise<void> {
  const session = await openSession(flags)
  const { place, project: before } = await findProject(session, wanted)
  const { name } = flags
  const display = displayOf(flags, before.name, before.display)
  const body = { ...(name !== undefined && { name }), ...(display && { display }) }
  const { project } = await session.client.vaultProjects.update({ params: place, body })
  if (flags.json) writeJson({ project })
  note(`changed vault project ${project.name}`)
}

export async function enable(wanted: string, flags: Flags): Promise<void> {
  await setStatus(wanted, 'active', flags)
}

export async function disable(wanted: string, flags: Flags & { yes?: boolean }): Promise<void> {
  await setStatus(wanted, 'disabled', flags)
}

async function setStatus(wanted: string, status: Project['status'], flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { place, project: before } = await findProject(session, wanted)
  if (status === 'disabled') await confirmOrRefuse(`stops every release and every new link of ${before.name}`, flags)
  const { project } = await session.client.vaultProjects.update({ params: place, body: { status } })
  if (flags.json) writeJson({ project })
  note(`vault project ${project.name} is ${project.status}`)
}
