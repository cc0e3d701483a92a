import type { sync } from '@skerry/contract/sync/endpoints'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import type { In } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { syncOf } from '../../keys/keypairs.ts'
import { putGrants } from '../../model/grants/write.ts'
import { type LayerAccess, listLayerAccess } from './binding-store.ts'

type Request = Pick<In<typeof sync.createBinding>, 'context' | 'principal' | 'now' | 'newId'> & { db: Tx }
type WrappedDeks = In<typeof sync.createBinding>['body']['wrappedDeks']
interface Bound {
  orgId: string
  id: string
  connectionId: string
}

/** A caller who wraps keys says so each time: from then on this server can read the environment. */
export function checkAcknowledged(acknowledged: boolean | undefined): void {
  if (acknowledged !== true)
    throw fail(
      'invalid_request',
      'body.acknowledgedDecryption: must be true, because this server can read what is wrapped to the connection',
    )
}

/**
 * Gives the connection the keys of a binding’s layers. Each is one of them, of a caller who holds it, and really opens what
 * is in the environment: a wrong one would fail at every run.
 */
export async function giveKeys(
  request: Request,
  binding: Bound,
  wrappedDeks: WrappedDeks,
  { complete }: { complete: boolean },
): Promise<string[]> {
  const { db, principal } = request
  if (principal === null || principal.type === 'm2m')
    throw fail('forbidden', 'a machine client holds no key, so it cannot give one')
  const layers = new Map(
    (await listLayerAccess(db, binding.orgId, binding.id, principal)).map((layer) => [layer.environmentId, layer]),
  )
  const given = new Set<string>()
  for (const [index, { environmentId, wrappedDek }] of wrappedDeks.entries()) {
    const place = `body.wrappedDeks.${index}`
    const layer = layers.get(environmentId)
    if (!layer) throw fail('invalid_request', `${place}.environmentId: is no layer of the environment`)
    if (given.has(environmentId)) throw fail('invalid_request', `${place}.environmentId: is named twice`)
    if (!layer.isHeld) throw fail('forbidden', `${place}: you hold no key grant on ${layer.slug}`)
    await checkOpens(request.context, db, binding, layer, wrappedDek, place)
    given.add(environmentId)
  }
  if (complete)
    for (const { environmentId, slug } of layers.values())
      if (!given.has(environmentId))
        throw fail('invalid_request', `body.wrappedDeks: the key of ${environmentId} (${slug}) is missing`)
  const holder = { principalType: 'sync_connection', principalId: binding.connectionId }
  const put = await putGrants({ ...request, principal }, binding.orgId, holder, wrappedDeks)
  if (!put) throw fail('conflict', 'the connection is gone')
  return [...given]
}

async function checkOpens(
  context: Context,
  db: Tx,
  { orgId, connectionId }: Bound,
  { environmentId, name, ciphertext }: LayerAccess,
  wrappedDek: string,
  place: string,
): Promise<void> {
  const key = await context.keypairs.openEnvironment(db, syncOf(orgId, connectionId), { environmentId, wrappedDek })
  if (!key)
    throw fail('invalid_request', `${place}.wrappedDek: is no key that is wrapped to the key of this connection`)
  if (name === null || ciphertext === null) return
  const opens = await key.open(name, ciphertext).then(
    () => true,
    () => false,
  )
  if (!opens) throw fail('invalid_request', `${place}.wrappedDek: is not the key of this environment`)
}
