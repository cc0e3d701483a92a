import type { vaultProjects } from '@skerry/contract/vault/projects'
import type { NewVaultDisplay, VaultDisplay } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import { byCreation, pageFrom, pageOf } from '../../../http/page.ts'
import type { In, Out } from '../../../http/route.ts'
import { fail } from '../../../kernel/errors.ts'
import type { InOrg } from '../../orgs/scope.ts'
import { activeOf } from '../executor/admin.ts'
import { projectLifecycle } from '../lifecycles.ts'
import { readOrigin } from '../urls.ts'
import { toResponse as keyResponse } from './keys.ts'
import type { OnProject, Project } from './scope.ts'
import { insertProject, listKeys, listProjects, lockProject, updateProject } from './store.ts'

export async function list({ db, org, query }: In<typeof vaultProjects.list, InOrg>): Out<typeof vaultProjects.list> {
  const cursor = pageFrom(query, 'vaultProject')
  const page = pageOf(await listProjects(db, org, cursor), cursor, byCreation)
  return { projects: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

export async function create(input: In<typeof vaultProjects.create, InOrg>): Out<typeof vaultProjects.create> {
  const { db, org, body, now, newId, audit } = input
  const { name } = body
  const id = newId('vaultProject')
  const project = await insertProject(db, org, { id, name, display: displayOf(body.display ?? { name }), now })
  audit('vault.project.created', id, { name })
  return { project: toResponse(project) }
}

export async function get({ db, project }: In<typeof vaultProjects.get, OnProject>): Out<typeof vaultProjects.get> {
  const keys = await listKeys(db, project)
  return { project: toResponse(project), keys: keys.map(keyResponse), executor: await activeOf(db, project) }
}

export async function update(input: In<typeof vaultProjects.update, OnProject>): Out<typeof vaultProjects.update> {
  const { db, body, now, audit } = input
  const before = await lockProject(db, input.project)
  const { name = before.name, status = before.status } = body
  if (body.status) projectLifecycle.check(before.status, status === 'active' ? 'enable' : 'disable')
  const display = body.display ? displayOf(body.display) : before.display
  const project = await updateProject(db, before, { name, display, status, now })
  audit('vault.project.updated', project.id, { name, status, display: body.display !== undefined })
  return { project: toResponse(project) }
}

function displayOf(given: Static<typeof NewVaultDisplay>): Static<typeof VaultDisplay> {
  const origins = (given.returnOrigins ?? []).map((origin, index) =>
    readOrigin(origin, `body.display.returnOrigins.${index}`),
  )
  if (given.logoUrl?.startsWith('https:') && !URL.canParse(given.logoUrl))
    throw fail('invalid_request', 'body.display.logoUrl: is not a URL')
  return {
    name: given.name,
    logoUrl: given.logoUrl ?? null,
    accent: given.accent ?? null,
    returnOrigins: [...new Set(origins)],
  }
}

const toResponse = ({ orgId, ...project }: Project) => project
