import type { Bytes } from '@skerry/crypto/base64url'
import { openBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import type { EntryProof } from '@skerry/crypto/directory/tree'
import { type DirectoryTrust, type VerifiedDirectory, verifyDirectory } from '@skerry/crypto/directory/verify'
import { CryptoError } from '@skerry/crypto/errors'
import { type KeyHolder, unwrapKey } from '@skerry/crypto/wrap'
import type { Layer, ParsedBody, ResolveQuery } from '../resolve-body.ts'
import { mismatch, parseShown, provenEntry } from './answer.ts'

/** The environment and the branch that an answer must be about. */
export interface Wanted {
  /** `app/env`, from the command or the token, never from the answer. */
  name: string
  /** The name of the branch that was asked for. */
  branch: string | undefined
  query: ResolveQuery
  strict: boolean
  /** Called with a message that names a layer, for each layer that the client leaves out. */
  warn: (message: string) => void
}

/** An answer whose layers are those that the signers listed. */
export interface CheckedAnswer {
  /** Without layers that are not listed. */
  body: ParsedBody
  verified: VerifiedDirectory
  /** The commitment to the key of each environment, by its id. A branch has none here. */
  commitments: ReadonlyMap<string, string>
}

/**
 * Verifies the member `directory` of a resolve answer.
 *
 * @param shown the member as it came.
 * @throws DirectoryError; CryptoError as `verifyDirectory` does; SkerryError `malformed_answer`.
 */
export async function verifyShown(shown: unknown, trust: DirectoryTrust) {
  const answer = parseShown(shown, expectedOf(trust))
  return { verified: await verifyDirectory(answer, trust), proofs: answer.proofs }
}

export const expectedOf = ({ pins, known }: DirectoryTrust): string =>
  known ? `a directory that continues from head ${known.head.version}` : `a directory from root ${pins[0]?.root}`

/**
 * Compares an answer with the signed entry of the environment that was asked for: its id, and its layers in their order.
 *
 * @throws DirectoryError `directory_unproven` for a name without an entry, `directory_mismatch`.
 */
export async function checkLayers(
  body: ParsedBody,
  { verified, proofs }: { verified: VerifiedDirectory; proofs: readonly EntryProof[] },
  wanted: Wanted,
): Promise<CheckedAnswer> {
  const { name, query, branch } = wanted
  const { scope } = body
  if (scope.orgId !== verified.root.org) throw mismatch(verified, verified.root.org, scope.orgId)
  const entry = await provenEntry(verified, `environment/${name}`, proofs)
  const app = body.layers.find(({ source }) => source === 'app') as Layer
  const shownName = `${scope.appSlug}/${app.slug}`
  if (shownName !== name) throw mismatch(verified, name, shownName)
  if (app.environmentId !== entry.value.id)
    throw mismatch(verified, `${name} with the id ${entry.value.id}`, app.environmentId)
  requireBranch(body, verified, branch)
  const commitments = new Map([[entry.value.id, entry.value.key]])
  const listed = withReplaced(entry.value.layers, query.with)
  const layers = listedLayers(body.layers, listed, wanted, verified)
  for (const layer of layers) {
    if (layer.source !== 'group') continue
    const group = await provenEntry(verified, `environment/${groupName(layer)}`, proofs)
    if (layer.environmentId !== group.value.id)
      throw mismatch(verified, `${groupName(layer)} with the id ${group.value.id}`, layer.environmentId)
    commitments.set(group.value.id, group.value.key)
  }
  return { body: { ...body, layers }, verified, commitments }
}

const groupName = ({ groupSlug, slug }: Layer) => `${groupSlug}:${slug}` as const

/** `with` replaces the environment of a listed group, and adds no group. */
function withReplaced(listed: readonly string[], replacements: readonly string[]): string[] {
  const groupOf = (name: string) => name.slice(0, name.indexOf(':'))
  return listed.map((name) => replacements.find((other) => groupOf(other) === groupOf(name)) ?? name)
}

/** Returns the layers without those that are not listed. The listed ones must all be there, in the order of the list. */
function listedLayers(
  layers: readonly Layer[],
  listed: readonly string[],
  { name, strict, warn }: Wanted,
  verified: VerifiedDirectory,
): Layer[] {
  const isListed = (layer: Layer) => layer.source !== 'group' || listed.includes(groupName(layer))
  const extra = layers.filter((layer) => !isListed(layer)).map(groupName)
  const kept = layers.filter(isListed)
  const shown = kept.filter(({ source }) => source === 'group').map(groupName)
  const words = (names: readonly string[]) => names.join(', ') || 'no group'
  if (shown.join() !== listed.join() || (strict && extra.length > 0))
    throw mismatch(
      verified,
      `${name} with ${words(listed)}`,
      words(layers.filter(({ source }) => source === 'group').map(groupName)),
    )
  for (const one of extra)
    warn(`${one} was left out, because the signed directory does not list it as a layer of ${name}`)
  return kept
}

function requireBranch({ layers }: ParsedBody, verified: VerifiedDirectory, wanted: string | undefined): void {
  const shown = layers.find(({ source }) => source === 'branch')
  if (shown === undefined || (wanted !== undefined && shown.slug === wanted)) return
  throw mismatch(verified, wanted === undefined ? 'no branch' : `the branch ${wanted}`, `the branch ${shown.slug}`)
}

/**
 * Unwraps the key of each layer, and compares it with its commitment.
 *
 * @returns a holder that has the keys, so that nothing is unwrapped twice.
 * @throws DirectoryError `directory_mismatch` for another key; `not_authentic` and `authentic_expired` for the manifest of
 *   a branch.
 */
export async function checkKeys(
  { body, verified, commitments }: CheckedAnswer,
  holder: KeyHolder,
  nowMs: number,
): Promise<KeyHolder> {
  const keys = new Map<string, Bytes>()
  await Promise.all(
    body.layers.map(async ({ wrappedDek }) => {
      const bytes = await unwrapped(wrappedDek, holder)
      if (bytes) keys.set(wrappedDek, bytes)
    }),
  )
  for (const layer of body.layers) {
    const bytes = keys.get(layer.wrappedDek)
    // A key that does not open, or is no key, is reported when the layer is decrypted.
    if (bytes?.length !== 32) continue
    const isBranch = layer.source === 'branch'
    const expected = isBranch ? await branchCommitment(layer, body, keys, nowMs) : commitments.get(layer.environmentId)
    if (expected === undefined) throw mismatch(verified, `the branch ${layer.slug} with a manifest`, 'none')
    const came = await environmentKeyCommitment(layer.environmentId, bytes)
    if (came !== expected) throw mismatch(verified, `${labelOf(layer, body)} with the key ${expected}`, came)
  }
  return { point: holder.point, unwrap: async (blob) => keys.get(blob) ?? unwrapKey(blob, holder) }
}

const labelOf = (layer: Layer, { scope }: ParsedBody) =>
  layer.source === 'group' ? groupName(layer) : `${scope.appSlug}/${layer.slug}`

/** A holder elsewhere can fail in other ways, which say nothing about the layer. */
const unwrapped = (blob: string, holder: KeyHolder): Promise<Bytes | undefined> =>
  unwrapKey(blob, holder).catch((error) => {
    if (error instanceof CryptoError) return undefined
    throw error
  })

/** Opens the manifest of a branch with the key of its parent. Undefined if the server gives none. */
async function branchCommitment(
  layer: Layer,
  { layers }: ParsedBody,
  keys: ReadonlyMap<string, Bytes>,
  nowMs: number,
): Promise<string | undefined> {
  const { manifest } = layer
  const parent = layers.find(({ source }) => source === 'app') as Layer
  const parentKey = keys.get(parent.wrappedDek)
  if (!manifest || !parentKey) return undefined
  const asked = { parent: parent.environmentId, name: layer.slug }
  const { id, key } = await openBranchManifest(parentKey, manifest, asked, nowMs / 1000)
  if (id === layer.environmentId) return key
  throw new CryptoError('not_authentic')
}
