import type { Merged } from '@skerry/crypto/layers'
import type { KeyHolder } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { clientError } from './errors.ts'
import type { KnownState } from './known-state.ts'
import { isUnknownPath } from './old-server.ts'
import { type OverridesPlace, openOverrides } from './overrides.ts'
import type { ParsedBody } from './resolve-body.ts'
import type { Copy } from './sealed-copy.ts'

type Fetched = Required<Pick<Copy, 'overrides' | 'overridesEtag'>>

/** The stored text for a server that has no overrides. */
const none: Fetched = { overrides: '{"overrides":[]}', overridesEtag: null }

/**
 * Fetches the personal overrides as text, still encrypted, with the ETag of the known copy. An older server has none.
 *
 * @throws RefusedError, UnavailableError: without the overrides a program would silently get other values.
 */
export async function fetchOverrides(
  client: Client,
  { orgId, envId }: OverridesPlace,
  known: Copy | undefined,
  signal: AbortSignal | undefined,
): Promise<Fetched> {
  const { overrides, overridesEtag } = known ?? {}
  const etag = (overrides !== undefined && overridesEtag) || undefined
  try {
    const options = { isOptional: true, etag, ...(signal ? { signal } : {}) }
    const received = await client.request('overrides', 'list', { params: { orgId, envId } }, options)
    if (received.status === 304) return { overrides: overrides as string, overridesEtag: etag as string }
    return { overrides: received.text, overridesEtag: received.etag }
  } catch (error) {
    if (isUnknownPath(error)) return none
    throw error
  }
}

type Rows = Parameters<typeof openOverrides>[0]

function parseRows(text: string): Rows {
  try {
    const { overrides: rows } = JSON.parse(text)
    if (Array.isArray(rows) && rows.every(isRow)) return rows
  } catch {
    // falls through: no JSON, or no object
  }
  throw clientError('malformed_answer', 'it has no list of overrides')
}

const isRow = (row: Partial<Rows[number]> | null) =>
  [row?.id, row?.wrappedKey, row?.ciphertext, row?.updatedAt].every((part) => typeof part === 'string')

/**
 * Puts personal overrides over the merged values, before references are expanded.
 *
 * @param knownState set for a live answer only.
 * @returns the names of the overrides.
 */
export async function applyOverrides(
  merged: Merged,
  text: string,
  holder: KeyHolder,
  { place, body, knownState }: { place: OverridesPlace; body: ParsedBody; knownState: KnownState | undefined },
): Promise<string[]> {
  const opened = await openOverrides(parseRows(text), holder, place)
  await knownState?.check({ overrides: { environmentId: place.envId, overrides: opened } })
  const slug = body.layers.find(({ environmentId }) => environmentId === place.envId)?.slug ?? body.scope.envSlug
  for (const { name, value } of opened) {
    merged.values[name] = value
    merged.provenance[name] ??= { source: 'app', environmentId: place.envId, slug, overrides: [] }
  }
  return opened.map(({ name }) => name)
}
