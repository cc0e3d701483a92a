import type { Bytes } from '../base64url.ts'
import { CryptoError } from '../errors.ts'
import { type AuthenticatedKind, authenticate, openAuthenticated } from './authenticated.ts'
import { DirectoryError } from './refusal.ts'
import { first, hash, id, nullable, object, slug, time } from './shape.ts'

/** The facts about a branch that a reader of its parent vouches for. Times are Unix seconds. */
export interface BranchManifest {
  id: string
  /** The id of the parent environment. */
  parent: string
  name: string
  /** See `environmentKeyCommitment`. */
  key: string
  expiresAt: number | null
}

const kind: AuthenticatedKind = {
  prefix: 'bm1',
  info: 'skerry/branch-manifest/v1',
  shape: object({
    v: first,
    id: id('environment'),
    parent: id('environment'),
    name: slug,
    key: hash,
    expiresAt: nullable(time),
  }),
}
const keyLengthBytes = 32

/**
 * Makes the manifest of a branch: `bm1.<body>.<code>`. Anyone who can read the parent can make and check one. After a
 * re-key of the parent it must be made again.
 *
 * @throws CryptoError `invalid_argument` unless the parent's key has 32 bytes; `directory_malformed`.
 * @example
 * const branch = { id: envId, parent: envId, name: 'fix-login', key: remembered, expiresAt: null }
 * const manifest = await makeBranchManifest(newDek(), branch)
 */
export async function makeBranchManifest(parentKey: Bytes, manifest: BranchManifest): Promise<string> {
  requireKey(parentKey)
  return authenticate(kind, parentKey, { v: 1, ...manifest })
}

/**
 * Opens the manifest of a branch.
 *
 * @param wanted the parent, and the name that the user asked for.
 * @param now Unix seconds.
 * @throws CryptoError `not_authentic`, `authentic_expired`, `directory_malformed`, `invalid_argument`.
 * @example
 * const { key } = await openBranchManifest(newDek(), body, { parent: envId, name: 'fix-login' }, 1_767_225_600)
 */
export async function openBranchManifest(
  parentKey: Bytes,
  written: string,
  { parent, name }: Pick<BranchManifest, 'parent' | 'name'>,
  now: number,
): Promise<BranchManifest> {
  requireKey(parentKey)
  const { v: _, ...manifest } = (await openAuthenticated(kind, parentKey, written)) as BranchManifest & { v: 1 }
  if (manifest.parent !== parent || manifest.name !== name)
    throw new DirectoryError('not_authentic', {
      expected: `the branch ${name} of ${parent}`,
      came: `the branch ${manifest.name} of ${manifest.parent}`,
    })
  if (manifest.expiresAt !== null && !(now < manifest.expiresAt))
    throw new CryptoError('authentic_expired', 'the branch has expired')
  return manifest
}

function requireKey(key: Bytes): void {
  if (key.length !== keyLengthBytes) throw new CryptoError('invalid_argument', 'a key must have 32 bytes')
}
