import type { InOrg, SignedIn } from '../frame.ts'
import { noteNew } from '../known-names.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { findProject, listProjects, type Project } from './find.ts'
import { keyCells, keyHeader } from './keys.ts'

interface DisplayOptions extends Flags {
  shownAs?: string
  logo?: string
  accent?: string
  returnOrigin?: string[]
}

/** The display settings with the options applied; undefined if none of the options is given. */
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

export async function create(name: string, { session, flags, orgId }: InOrg<DisplayOptions>): Promise<Output> {
  const display = displayOf(flags, name)
  const body = { name, ...(display && { display }) }
  const { project } = await session.client.vaultProjects.create({ params: { orgId }, body })
  noteNew(session, orgId, { kind: 'vaultProject', id: project.id, name })
  return {
    json: { project },
    text: () => writeLine(project.id),
    after: () =>
      note(
        `created vault project ${name}; next: \`skerry vault executor register-code\` and \`skerry vault key create\``,
      ),
  }
}

export async function list({ session }: SignedIn): Promise<Output> {
  const { projects } = await listProjects(session)
  return {
    json: { projects },
    text: () =>
      writeTable(
        ['name', 'status', 'id'],
        projects.map(({ name, status, id }) => [name, status, id]),
        'no projects yet; create one with `skerry vault project create <name>`',
      ),
  }
}

export async function show(wanted: string, { session }: SignedIn): Promise<Output> {
  const { place } = await findProject(session, wanted)
  const { project, keys, executor } = await session.client.vaultProjects.get({ params: place })
  return {
    json: { project, keys, executor },
    text: () => {
      const { name, id, status, display } = project
      writeLine(`${name} (${status}), ${id}`)
      writeLine(`shown as: ${display.name}`)
      writeLine(`people return to: ${display.returnOrigins.join(', ') || 'nowhere'}`)
      writeLine(`executor: ${executor ? `${executor.origin}, last seen ${shownTime(executor.lastSeenAt)}` : 'none'}`)
      writeTable(keyHeader, keys.map(keyCells))
    },
  }
}

export async function update(
  wanted: string,
  { session, flags }: SignedIn<DisplayOptions & { name?: string }>,
): Promise<Output> {
  const { place, project: before } = await findProject(session, wanted)
  const { name } = flags
  const display = displayOf(flags, before.name, before.display)
  const body = { ...(name !== undefined && { name }), ...(display && { display }) }
  const { project } = await session.client.vaultProjects.update({ params: place, body })
  return { json: { project }, after: () => note(`changed vault project ${project.name}`) }
}

export const enable = (wanted: string, work: SignedIn) => setStatus(wanted, 'active', work)
export const disable = (wanted: string, work: SignedIn<Confirmable>) => setStatus(wanted, 'disabled', work)

async function setStatus(
  wanted: string,
  status: Project['status'],
  { session, flags }: SignedIn<Confirmable>,
): Promise<Output> {
  const { place, project: before } = await findProject(session, wanted)
  if (status === 'disabled')
    await confirmOrRefuse(
      `disables ${before.name}: its backend gets no credentials, and people cannot connect accounts`,
      flags,
    )
  const { project } = await session.client.vaultProjects.update({ params: place, body: { status } })
  return { json: { project }, after: () => note(`vault project ${project.name} is ${project.status}`) }
}
