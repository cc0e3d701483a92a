import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { sha256 } from '../../kernel/context.ts'
import { syncOf } from '../../keys/keypairs.ts'
import { openResolved, type Resolved, type SealedLayer, UnopenedLayer } from '../../keys/resolved.ts'
import { layersFor, type ReaderLayer } from '../resolve/layers.ts'
import type { Binding } from './scope.ts'

/** Why an environment cannot be read for a binding. What helps is a change, so it is not tried again by itself. */
export class Unreadable extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Unreadable'
  }
}

const layersOf = (db: Sql, { orgId, connectionId, environmentId }: Binding, now: string) =>
  layersFor(db, { type: 'sync_connection', id: connectionId, orgId }, environmentId, now)

/** What a binding would push and how, without opening anything: the same again means that there is nothing to do. */
export async function digestNow(db: Sql, binding: Binding, now: string): Promise<string> {
  const layers = await layersOf(db, binding, now)
  const parts = layers.map(({ environmentId, wrappedDek, secrets }) => [environmentId, wrappedDek, secrets])
  return sha256(JSON.stringify([binding.revision, ...parts]))
}

/** Reads an environment as `skerry run` would, and opens it. The values live for one run. */
export async function readValues(context: Context, binding: Binding, now: string): Promise<Resolved> {
  const layers = await layersOf(context.db, binding, now)
  if (layers.length === 0) throw new Unreadable('The environment is gone, or its time is up.')
  const sealed = layers.map(sealedLayer)
  const owner = syncOf(binding.orgId, binding.connectionId)
  return openResolved(context.keypairs, context.db, owner, sealed).catch((error: unknown) => {
    throw error instanceof UnopenedLayer ? new Unreadable(`Of its layers, ${error.message}.`) : error
  })
}

function sealedLayer({ source, environmentId, slug, groupSlug, wrappedDek, secrets }: ReaderLayer): SealedLayer {
  const place = groupSlug === null ? slug : `${groupSlug}:${slug}`
  if (wrappedDek === null)
    throw new Unreadable(`The connection has no key to ${place}: PATCH the binding with its wrappedDeks.`)
  return { source, environmentId, slug: place, wrappedDek, secrets: JSON.parse(secrets ?? '[]') }
}
