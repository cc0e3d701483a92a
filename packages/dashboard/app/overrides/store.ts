import { limits } from '@skerry/contract/limits'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { ValueTooLong } from '../secrets/value-too-long.ts'
import type { OwnOverride } from './own-overrides.tsx'
import type { OverrideRow } from './queries.ts'

interface Place {
  orgId: string
  environmentId: string
  userId: string
}

/**
 * Stores a value for the person alone. `own` is the override that it replaces, and `rows` are all that the page has seen:
 * the server refuses if there are others.
 */
export async function storeOverride(
  place: Place,
  { name, value }: { name: string; value: string },
  { own, rows }: { own: OwnOverride | undefined; rows: readonly OverrideRow[] },
): Promise<void> {
  const { orgId, environmentId } = place
  await checkMeanings([environmentId])
  const sealed = await keyring.call('sealOverride', { place, name, value, revision: (own?.revision ?? 0) + 1 })
  if (sealed.ciphertext.length > limits.ciphertextBytes) throw new ValueTooLong()
  const params = { orgId, envId: environmentId }
  if (own) {
    const { id: overrideId, revision: expectedRevision } = own.row
    await api.overrides.replace({ params: { ...params, overrideId }, body: { ...sealed, expectedRevision } })
  } else await api.overrides.create({ params, body: { ...sealed, seen: rows.map(({ id }) => id) } })
}

export const removeOverride = ({ orgId, environmentId }: Place, { row }: OwnOverride) =>
  api.overrides.delete({ params: { orgId, envId: environmentId, overrideId: row.id } })
