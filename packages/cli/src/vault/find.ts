import type { Answer } from '@skerry/contract/endpoint'
import { isNamed } from '@skerry/contract/prefixes'
import type { vaultProjects } from '@skerry/contract/vault/projects'
import { Failure, usage } from '../failure.ts'
import { lookingUp, type Prepare, type SignedIn } from '../frame.ts'
import { checkKnownName } from '../known-names.ts'
import { orNearest } from '../nearest.ts'
import { everyRow } from '../pages.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'

export type Project = Answer<typeof vaultProjects.create>['project']

/** Options of a command on a project. */
export interface InProject extends Flags {
  project?: string
}

export interface Place {
  orgId: string
  projectId: string
}

const pageLimit = 200

export async function listProjects(session: Session): Promise<{ orgId: string; projects: Project[] }> {
  const { id: orgId } = await session.org()
  const projects = await everyRow(
    (at) => session.client.vaultProjects.list({ params: { orgId }, query: { limit: pageLimit, ...at } }),
    (page) => page.projects,
  )
  return { orgId, projects }
}

/** Finds a project by its id, or by a name that only one project has. */
export async function findProject(session: Session, wanted: string): Promise<{ place: Place; project: Project }> {
  const { orgId, projects } = await listProjects(session)
  const found = projects.filter((project) => isNamed(wanted, 'vaultProject', project))
  if (found.length > 1) throw usage(`${found.length} projects are called ${wanted}`, 'use the id of one of them')
  const names = projects.map(({ name }) => name)
  const next = orNearest(wanted, names, seeProjects)
  const at = placed(orgId, found[0], `there is no vault project ${wanted} that you can see`, next)
  const { id, name } = at.project
  checkKnownName(session, orgId, { kind: 'vaultProject', noun: 'vault project', wanted, id, name })
  return at
}

/** Finds the project that the option names, or the only one. */
async function projectOf(session: Session, flags: InProject): Promise<{ place: Place; project: Project }> {
  if (flags.project !== undefined) return findProject(session, flags.project)
  const { orgId, projects } = await listProjects(session)
  if (projects.length > 1) throw usage('the project is missing, and there are several', 'name one with --project')
  return placed(orgId, projects[0], 'there is no vault project that you can see')
}

export const atProject = lookingUp(projectOf)

/** The last argument of an action on a vault project. */
export type AtProject<F extends InProject = InProject, P extends Prepare = () => undefined> = SignedIn<F, P> &
  Awaited<ReturnType<typeof projectOf>>

const seeProjects = 'see `skerry vault project ls`'

function placed(orgId: string, project: Project | undefined, message: string, next = seeProjects) {
  if (!project) throw new Failure('notFound', message, next)
  return { place: { orgId, projectId: project.id }, project }
}
