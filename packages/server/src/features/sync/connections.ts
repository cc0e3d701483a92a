import type { sync } from '@skerry/contract/sync/endpoints'
import { type SyncConfig, type SyncTag, syncProviders } from '@skerry/contract/sync/providers'
import { syncProblem } from '@skerry/contract/sync/rules'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import { type In, type Out, Reply } from '../../http/route.ts'
import { checkShape } from '../../http/validate.ts'
import { fail } from '../../kernel/errors.ts'
import { syncOf } from '../../keys/keypairs.ts'
import type { InOrg } from '../orgs/scope.ts'
import { listBindingIds, makeDue } from './binding-store.ts'
import { takeEndings } from './change-store.ts'
import {
  deleteConnection,
  insertConnection,
  listConnections,
  recordReach,
  updateConnection,
} from './connection-store.ts'
import { type Connection, findConnection, type OnConnection } from './scope.ts'
import { checkDestination, describe, openDestination, providerError } from './session.ts'

export async function list({ db, org, query }: In<typeof sync.connections, InOrg>): Out<typeof sync.connections> {
  const cursor = pageFrom(query, 'syncConnection')
  const page = pageOf(await listConnections(db, org, cursor), cursor, byCreation)
  return { connections: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

/** Returns the key to which the credential and environment keys are wrapped. It exists before the connection does. */
export async function publicKey(input: In<typeof sync.publicKey, InOrg>): Out<typeof sync.publicKey> {
  const { context, db, org, params } = input
  return { publicKeyJwk: await context.keypairs.publicKey(db, syncOf(org.id, params.connectionId)) }
}

export async function create(input: In<typeof sync.createConnection, InOrg>): Out<typeof sync.createConnection> {
  const { context, db, org, body, now, audit } = input
  const { id, name, config, wrappedCredential } = body
  checkConfig(config)
  if (id === undefined)
    throw fail('invalid_request', 'body.id: choose one, and wrap the credential to the public key of that id')
  await checkCredential(context, db, { orgId: org.id, id }, wrappedCredential)
  const { provider } = config
  if (!(await insertConnection(db, org, { id, name, provider, config, wrappedCredential, now })))
    throw fail('conflict', 'body.name or body.id: another connection uses it')
  audit('sync_connection.created', id, { name, provider })
  return new Reply(201, { connection: toResponse((await findConnection(db, org, id)) as Connection) })
}

/** Checks each field against the schema of the provider, and then how the fields fit together. */
function checkConfig(config: Connection['config']): void {
  checkShape(syncProviders[config.provider].config, config, 'body.config')
  const problem = syncProblem(config as unknown as SyncConfig<SyncTag>)
  if (problem !== null) throw fail('invalid_request', `body.config.${problem}`)
}

/** Refuses a credential that does not decrypt, because it would only fail at the first push. */
async function checkCredential(context: Context, db: Tx, { orgId, id }: { orgId: string; id: string }, blob: string) {
  if (!(await context.keypairs.openWrapped(db, syncOf(orgId, id), blob)))
    throw fail('invalid_request', 'body.wrappedCredential: is not wrapped to the public key of this connection')
}

export async function update(input: In<typeof sync.updateConnection, OnConnection>): Out<typeof sync.updateConnection> {
  const { context, db, org, connection, body, now, audit } = input
  const { name = connection.name, wrappedCredential = connection.wrappedCredential } = body
  const isNew = body.wrappedCredential !== undefined
  if (isNew) await checkCredential(context, db, connection, wrappedCredential)
  if (!(await updateConnection(db, connection, { name, wrappedCredential, isNew, now })))
    throw fail('conflict', 'body.name: another connection uses it, or this one was deleted')
  if (isNew) await makeDue(db, org.id, connection.id, now)
  audit('sync_connection.updated', connection.id, { name, credential: isNew })
  return { connection: toResponse((await findConnection(db, org, connection.id)) as Connection) }
}

/** Records the result, whether the destination was reached or not. */
export async function verify(input: In<typeof sync.verifyConnection, OnConnection>): Out<typeof sync.verifyConnection> {
  const { context, connection, body, transaction } = input
  checkDestination(body.destination, connection.provider)
  // A contradictory destination is refused here as it is when it is bound.
  await describe(connection.config, body.destination)
  const found = await reach(context, connection, body.destination)
  await transaction(async ({ db, audit }) => {
    await recordReach(db, connection, found.error)
    audit('sync_connection.verified', connection.id, { ok: found.error === null })
  })
  if (found.error === null) return { ok: true }
  // The body of this refusal has `ok` beside the error, so it cannot be thrown with `fail`.
  const refusal = { ok: false, error: { code: 'invalid_request', message: `target: ${found.error}` } }
  return new Reply(400, refusal as never)
}

async function reach(context: Context, connection: Connection, destination: Parameters<typeof openDestination>[2]) {
  try {
    const session = await openDestination(context, connection, destination, [])
    await session.verify()
    return { error: null }
  } catch (error) {
    const known = providerError(error)
    if (!known) throw error
    return { error: known.message }
  }
}

/** A run that is under way notices the deletion before its next write. */
export async function remove(input: In<typeof sync.deleteConnection, OnConnection>): Out<typeof sync.deleteConnection> {
  const { context, db, org, connection, audit } = input
  const bindingIds = await listBindingIds(db, org.id, connection.id)
  if (!(await deleteConnection(db, connection))) throw fail('not_found', 'no such sync connection')
  await takeEndings(db, { orgId: org.id, bindingIds })
  await context.keypairs.destroy(db, syncOf(org.id, connection.id))
  audit('sync_connection.deleted', connection.id, { name: connection.name, bindings: bindingIds.length })
  for (const id of bindingIds) audit('sync_binding.deleted', id, { cause: 'sync_connection.deleted' })
  return { ok: true }
}

function toResponse({ orgId, wrappedCredential, ...connection }: Connection) {
  return connection
}
