import type { apps } from '@skerry/contract/apps/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { createEnvironment, toResponse } from '../envs/create.ts'
import { allEnvs, pageOfEnvs } from '../envs/lists.ts'
import type { InOrg } from '../orgs/scope.ts'
import type { App } from './scope.ts'
import { applications } from './store.ts'

type InApp = InOrg & { app: App }

export async function list({ db, org, query }: In<typeof apps.list, InOrg>): Out<typeof apps.list> {
  const cursor = pageFrom(query, 'application')
  const page = pageOf(await applications.list(db, org, cursor), cursor, byCreation)
  return { apps: page.rows, nextCursor: page.nextCursor }
}

export async function create({
  db,
  org,
  body,
  now,
  newId,
  audit,
}: In<typeof apps.create, InOrg>): Out<typeof apps.create> {
  const app = await applications.insert(db, org, { id: newId('application'), ...body, now })
  if (!app) throw fail('conflict', 'body.slug: another application uses it')
  audit('app.created', app.id, { slug: app.slug })
  return { app }
}

export async function get(input: In<typeof apps.get, InApp>): Out<typeof apps.get> {
  const { app } = input
  return { app, environments: await allEnvs(input, { app }) }
}

export async function update({ db, app, body, now, audit }: In<typeof apps.update, InApp>): Out<typeof apps.update> {
  const after = await applications.rename(db, app, body.name, now)
  if (!after) throw fail('not_found', 'no such app')
  audit('app.updated', app.id, { name: body.name })
  return { app: after }
}

export async function remove(input: In<typeof apps.delete, InApp>): Out<typeof apps.delete> {
  const { context, db, app, origin, audit } = input
  const deleted = await applications.delete(db, app)
  if (!deleted) throw fail('not_found', 'no such app')
  audit('app.deleted', app.id, { slug: app.slug })
  await context.environmentsEnded(context, db, origin, app.orgId, { cause: 'app.deleted', causeId: app.id })
  return { ok: true }
}

export async function listEnvs(input: In<typeof apps.envs, InApp>): Out<typeof apps.envs> {
  return pageOfEnvs(input, { app: input.app })
}

export async function createEnv(input: In<typeof apps.createEnv, InApp>): Out<typeof apps.createEnv> {
  const { app, audit } = input
  const environment = await createEnvironment(input, { orgId: app.orgId, applicationId: app.id, groupId: null })
  audit('env.created', environment.id, { slug: environment.slug, applicationId: app.id })
  return { environment: toResponse(environment) }
}
