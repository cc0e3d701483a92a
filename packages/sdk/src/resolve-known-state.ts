import type { Bytes } from '@skerry/crypto/base64url'
import type { DecryptedLayer } from '@skerry/crypto/layers'
import { type KeyHolder, unwrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import type { KnownState } from './known-state.ts'
import type { Meanings } from './known-state-meanings.ts'
import { decryptLayers } from './resolve.ts'
import type { Layer, ParsedBody, ResolveQuery } from './resolve-body.ts'

interface Remembering {
  knownState: KnownState
  client: Client
  query: ResolveQuery
  /** A service token belongs to one organization; a person may be in several. */
  isToken: boolean
  /** Whether the keys of all layers are those of the signed directory. */
  isSigned: boolean
}

/**
 * Decrypts as `decryptLayers` does, and compares the answer with the known state. An answer that does not decrypt is
 * not remembered.
 */
export async function decryptAndCheck(
  body: ParsedBody,
  holder: KeyHolder,
  { knownState, client, query, isToken, isSigned }: Remembering,
): Promise<DecryptedLayer[]> {
  const keys = new Map<string, Bytes>()
  const unwrap = async (blob: string) => {
    const bytes = await unwrapKey(blob, holder)
    keys.set(blob, bytes)
    return bytes
  }
  const decrypted = await decryptLayers(body, { point: holder.point, unwrap })
  const { orgId } = body.scope
  const environments = body.layers.map((layer) => {
    const { environmentId, secrets, wrappedDek } = layer
    const newestVersion = async (name: string) => {
      const params = { orgId, envId: environmentId, name }
      return (await client.secrets.versions({ params, query: { limit: 1 } })).versions[0]
    }
    const isBranch = layer.source === 'branch'
    const label = labelOf(layer, body)
    return { environmentId, label, isBranch, key: keys.get(wrappedDek)!, isSigned, secrets, newestVersion }
  })
  // A branch shares this entry with the environment that it was forked from, because both have the same groups.
  const asked = [appLayerOf(body).environmentId, ...query.with].join('\n')
  await knownState.check({ meanings: meaningsOf(body, query, isToken), environments, query: asked })
  return decrypted
}

const appLayerOf = ({ layers }: ParsedBody): Layer => layers.find(({ source }) => source === 'app')!

/** The name that people use for a layer: `shared:production`, `shop/production`, `shop/production@pr-7`. */
function labelOf({ source, groupSlug, slug }: Layer, body: ParsedBody): string {
  if (source === 'group') return `${groupSlug}:${slug}`
  const app = `${body.scope.appSlug}/${appLayerOf(body).slug}`
  return source === 'app' ? app : `${app}@${slug}`
}

/**
 * Returns the names in the answer. It adds the binding if the query names no environment, and the organization for a
 * token.
 */
function meaningsOf(body: ParsedBody, query: ResolveQuery, isToken: boolean): Meanings {
  const { orgId, envId, branchOf = envId } = body.scope
  const environments = body.layers.map((layer) => {
    return { orgId, name: labelOf(layer, body), environmentId: layer.environmentId }
  })
  return {
    environments,
    ...(query.env === undefined ? { bound: query.branch === undefined ? envId : branchOf } : {}),
    ...(isToken ? { organization: { name: '', id: orgId } } : {}),
  }
}
