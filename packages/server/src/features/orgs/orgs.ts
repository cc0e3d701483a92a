import type { orgs } from '@skerry/contract/orgs/endpoints'
import type { Sql } from '../../db/database.ts'
import type { Caller } from '../../http/access.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { Principal, UserPrincipal } from '../../kernel/principal.ts'
import { renameOrganization } from '../../model/organizations/write.ts'
import { insertMembership } from '../../model/people/memberships.ts'
import { createOrg } from './create.ts'
import { getOrg, type InOrg } from './scope.ts'
import { listMembers, listOrgs } from './store.ts'

export async function list({ db, principal, query }: In<typeof orgs.list, Caller>): Out<typeof orgs.list> {
  const cursor = pageFrom(query, 'organization')
  const page = pageOf(await listOrgs(db, principal, cursor), cursor, byCreation)
  return { orgs: page.rows, nextCursor: page.nextCursor }
}

/** All organizations of a caller, with its role in each. */
export const allOrgs = (db: Sql, principal: Principal) => listOrgs(db, principal, { at: null, id: null, take: null })

export async function create(input: In<typeof orgs.create, { principal: UserPrincipal }>): Out<typeof orgs.create> {
  const { db, principal, body, now, newId, audit } = input
  const org = await createOrg(input, { id: newId('organization'), name: body.name, slug: body.slug })
  if (!org) throw fail('conflict', 'body.slug: is already in use')
  await insertMembership(db, org.id, principal.id, 'owner', now)
  audit('org.created', org.id, { slug: org.slug }, { orgId: org.id })
  return { org: { ...org, role: 'owner' } }
}

export async function get({ db, org, role }: In<typeof orgs.get, InOrg>): Out<typeof orgs.get> {
  return { org: { ...(await getOrg(db, org)), role } }
}

export async function update({
  db,
  org,
  role,
  body,
  now,
  audit,
}: In<typeof orgs.update, InOrg>): Out<typeof orgs.update> {
  await renameOrganization(db, org, body.name, now)
  const after = await getOrg(db, org)
  audit('org.updated', org.id, { name: body.name })
  return { org: { ...after, role } }
}

export async function members({ db, org, query }: In<typeof orgs.members, InOrg>): Out<typeof orgs.members> {
  const cursor = pageFrom(query, 'user')
  const page = pageOf(await listMembers(db, org, cursor), cursor, (row) => [row.createdAt, row.userId])
  return { members: page.rows.map(({ createdAt, ...shown }) => shown), nextCursor: page.nextCursor }
}
