import type { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { deleteAccessTokens } from '../../identity/store.ts'
import { newSecret, sha256 } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { lockMaker } from '../../model/people/made.ts'
import type { InOrg } from '../orgs/scope.ts'
import { createClient } from './create.ts'
import type { Client } from './scope.ts'
import { listClients, revokeClient, setSecret } from './store.ts'

type OnClient = InOrg & { client: Client }

export async function list({ db, org, query }: In<typeof machineClients.list, InOrg>): Out<typeof machineClients.list> {
  const cursor = pageFrom(query, 'machineClient')
  const page = pageOf(await listClients(db, org, cursor), cursor, byCreation)
  return { clients: page.rows, nextCursor: page.nextCursor }
}

export async function create(input: In<typeof machineClients.create, InOrg>): Out<typeof machineClients.create> {
  const { db, org, principal, body, now, audit } = input
  await lockMaker(db, org, principal)
  const { id, clientSecret } = await createClient(db, { orgId: org.id, name: body.name, createdBy: principal, now })
  audit('machine_client.created', id, { name: body.name })
  const client = { id, orgId: org.id, name: body.name, lastUsedAt: null, revokedAt: null, createdAt: now }
  return { client, clientSecret }
}

/** A caller who renews a secret fears that the old one has leaked, so the client's access tokens end, too. */
export async function renewSecret(
  input: In<typeof machineClients.renewSecret, OnClient>,
): Out<typeof machineClients.renewSecret> {
  const { db, client, audit } = input
  const clientSecret = newSecret()
  if (!(await setSecret(db, client, sha256(clientSecret)))) throw fail('conflict', 'this machine client is revoked')
  await deleteAccessTokens(db, { orgId: client.orgId, clientId: client.id })
  audit('machine_client.secret_renewed', client.id, { name: client.name })
  return { client, clientSecret }
}

export async function revoke(input: In<typeof machineClients.revoke, OnClient>): Out<typeof machineClients.revoke> {
  const { db, client, now, audit } = input
  if (!(await revokeClient(db, client, now))) return { ok: true }
  await deleteAccessTokens(db, { orgId: client.orgId, clientId: client.id })
  audit('machine_client.revoked', client.id, { name: client.name })
  return { ok: true }
}
