import type { groups } from '@skerry/contract/groups/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { createEnvironment, toResponse } from '../envs/create.ts'
import { allEnvs, pageOfEnvs } from '../envs/lists.ts'
import type { InOrg } from '../orgs/scope.ts'
import type { Group } from './scope.ts'
import { groups as stored } from './store.ts'

type InGroup = InOrg & { group: Group }

export async function list({ db, org, query }: In<typeof groups.list, InOrg>): Out<typeof groups.list> {
  const cursor = pageFrom(query, 'group')
  const page = pageOf(await stored.list(db, org, cursor), cursor, byCreation)
  return { groups: page.rows, nextCursor: page.nextCursor }
}

export async function create({
  db,
  org,
  body,
  now,
  newId,
  audit,
}: In<typeof groups.create, InOrg>): Out<typeof groups.create> {
  const group = await stored.insert(db, org, { id: newId('group'), ...body, now })
  if (!group) throw fail('conflict', 'body.slug: another group uses it')
  audit('group.created', group.id, { slug: group.slug })
  return { group }
}

export async function get(input: In<typeof groups.get, InGroup>): Out<typeof groups.get> {
  const { group } = input
  return { group, environments: await allEnvs(input, { group }) }
}

export async function update({
  db,
  group,
  body,
  now,
  audit,
}: In<typeof groups.update, InGroup>): Out<typeof groups.update> {
  const after = await stored.rename(db, group, body.name, now)
  if (!after) throw fail('not_found', 'no such group')
  audit('group.updated', group.id, { name: body.name })
  return { group: after }
}

export async function remove(input: In<typeof groups.delete, InGroup>): Out<typeof groups.delete> {
  const { context, db, group, origin, audit } = input
  const deleted = await stored.delete(db, group)
  if (!deleted) throw fail('not_found', 'no such group')
  audit('group.deleted', group.id, { slug: group.slug })
  await context.environmentsEnded(context, db, origin, group.orgId, { cause: 'group.deleted', causeId: group.id })
  return { ok: true }
}

export async function listEnvs(input: In<typeof groups.envs, InGroup>): Out<typeof groups.envs> {
  return pageOfEnvs(input, { group: input.group })
}

export async function createEnv(input: In<typeof groups.createEnv, InGroup>): Out<typeof groups.createEnv> {
  const { group, audit } = input
  const environment = await createEnvironment(input, { orgId: group.orgId, applicationId: null, groupId: group.id })
  audit('env.created', environment.id, { slug: environment.slug, groupId: group.id })
  return { environment: toResponse(environment) }
}
