import { DirectoryError } from '@skerry/crypto/directory/refusal'
import { parseRoot, type RootBody, type RootDocument } from '@skerry/crypto/directory/root'
import type { SignedDirectory } from '@skerry/sdk/internal/directory/open'
import { openDirectory } from '../directory.ts'
import type { Session } from '../session.ts'
import { isLive, listTokens } from '../tokens/find.ts'
import type { EntryNames } from './words.ts'

// A token accepts every chain of roots that begins with its pin. Signers who have left since could still sign such a chain.

/** A token that may carry a pin from before signers left. */
interface OldPin {
  tokenId: string
  name: string
  /** The version of the newest root when the token was made. */
  root: number
  /** The signers of that root whose keys no longer sign, in words for people. */
  former: string[]
}

/**
 * Lists the active tokens that were made before a signer or a rescue code lost its right. Only the token itself knows its
 * pin. The server says when a token was made, and the signed entries say which tokens exist.
 */
export async function listOldPins(
  session: Session,
  { root: newest, entries }: SignedDirectory,
  nameOf: EntryNames,
): Promise<OldPin[]> {
  if (newest.body.version === 1) return []
  const roots = await fetchRoots(session, newest)
  const tokens = (await listTokens(session)).filter((one) => isLive(one) && entries.has(`token/${one.id}`))
  const found = tokens.flatMap(({ id, createdAt }) => {
    const root = rootsAt(roots, Date.parse(createdAt) / 1000).find(({ body }) => losesRights(body, newest.body))
    return root ? [{ tokenId: id, root }] : []
  })
  const ids = found.flatMap(({ root }) => formerSigners(root.body, newest.body).map(({ id }) => id))
  const shownNames = found.length === 0 ? () => undefined : await openDirectory(session, ids)
  const called = (key: string, id: string) => (nameOf(key) === id ? (shownNames(id) ?? id) : nameOf(key))
  return found.map(({ tokenId, root }) => ({
    tokenId,
    name: nameOf(`token/${tokenId}`),
    root: root.body.version,
    former: formerWords(root.body, newest.body, called),
  }))
}

/** Fetches the chain of roots that ends with a verified one. */
async function fetchRoots({ client }: Session, newest: RootDocument): Promise<RootDocument[]> {
  const { directory } = await client.directory.get({ params: { orgId: newest.body.org } })
  const chain = [newest]
  for (const text of (directory?.roots ?? []).slice(0, -1).toReversed()) {
    const root = await parseRoot(text)
    const expected = String(chain[0]!.body.prev)
    if (root.hash !== expected) throw new DirectoryError('directory_broken_chain', { expected, came: root.hash })
    chain.unshift(root)
  }
  return chain
}

/** The roots of which each may have been the newest at a time. A root has a whole second, so these can be several. */
function rootsAt(roots: readonly RootDocument[], time: number): RootDocument[] {
  const second = Math.floor(time)
  return roots.filter(({ body }, at) => {
    const next = roots[at + 1]
    return body.issuedAt <= second && (next === undefined || next.body.issuedAt >= second)
  })
}

const holderOf = (one: RootBody['signers'][number]) =>
  'person' in one ? { key: `person/${one.person}`, id: one.person } : { key: `token/${one.token}`, id: one.token }

const formerSigners = (old: RootBody, { signers }: RootBody) =>
  old.signers.filter(({ kid }) => !signers.some((one) => one.kid === kid)).map(holderOf)

const hasFormerCodes = (old: RootBody, { rescue }: RootBody): boolean =>
  old.rescue?.keys.some(({ kid }) => !rescue?.keys.some((one) => one.kid === kid)) ?? false

const losesRights = (old: RootBody, newest: RootBody): boolean =>
  formerSigners(old, newest).length > 0 || hasFormerCodes(old, newest)

function formerWords(old: RootBody, newest: RootBody, called: (key: string, id: string) => string): string[] {
  const present = new Set(newest.signers.map((one) => holderOf(one).id))
  const people = formerSigners(old, newest).map(({ key, id }) =>
    present.has(id) ? `an earlier key of ${called(key, id)}` : called(key, id),
  )
  return [...new Set(people), ...(hasFormerCodes(old, newest) ? ['rescue codes that were replaced'] : [])]
}
