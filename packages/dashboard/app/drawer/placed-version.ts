import type { Entry } from '../secrets/columns.ts'
import type { Version, VersionHistory } from './queries.ts'

/** A version with its place and the record of the secret's former names, as the keyring's worker opens it. */
export const placedVersion = (
  { layer, secret }: Entry,
  { formerNames = null }: VersionHistory,
  { version, ciphertext }: Version,
) => ({
  wrappedDek: layer.wrappedDek,
  environmentId: layer.environmentId,
  name: secret.name,
  history: { formerNames },
  version,
  ciphertext,
})
