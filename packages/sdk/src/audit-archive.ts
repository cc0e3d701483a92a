import { type AuditArchiveHeader, auditArchiveFormat } from '@skerry/contract/audit/archive'
import { decodeBase64 } from '@skerry/crypto/checkpoint'
import { growTree, isSameHash, openHasher } from '@skerry/crypto/merkle'
import { encodeBase64, isBeginning, openSigned, type ProvenArchive } from './audit-proof.ts'
import { SkerryError } from './errors.ts'

/**
 * Reads an archive of the audit log to its end, and checks that its entries are those that the server signed. Sends no
 * request.
 *
 * @param pieces the file, in pieces of any size
 * @param publicKeys of the server that made it, base64url: its current key, and earlier ones
 * @throws SkerryError `malformed_archive`, which names the line; `changed_archive` if its entries differ from those
 *   that the server signed. CryptoError if the checkpoint is not signed with one of the keys.
 * @example await readAuditArchive(createReadStream('trail-2026.jsonl'), [remembered])
 */
export async function readAuditArchive(
  pieces: AsyncIterable<Uint8Array>,
  publicKeys: readonly string[],
): Promise<ProvenArchive> {
  const lines = linesOf(pieces)
  try {
    return await readLines(lines, publicKeys)
  } finally {
    // Closes the file if the archive was refused before its end.
    await lines.return(undefined)
  }
}

async function readLines(
  lines: AsyncGenerator<string, undefined>,
  publicKeys: readonly string[],
): Promise<ProvenArchive> {
  const header = headerOf((await lines.next()).value ?? '')
  const { orgId, start, size } = header
  const hasher = await openHasher()
  const edge = header.edge.map(({ hash, leaves }) => ({ hash: decodeBase64(hash), leaves }))
  const tree = growTree(hasher, edge)
  if (tree.size !== start)
    throw new SkerryError('malformed_archive', 'line 1: this archive does not continue the archive before it')
  for await (const line of lines) tree.append(hasher.leaf(objectOf(line, tree.size - start + 2)))
  if (tree.size !== size)
    throw new SkerryError(
      'malformed_archive',
      `the archive has ${tree.size - start} entries, but its header says ${size - start}`,
    )
  const signed = await openSigned(header.checkpoint, publicKeys, orgId)
  const own = { origin: signed.origin, size, root: tree.root() }
  const isSigned =
    size === signed.size
      ? isSameHash(own.root, signed.root)
      : await isBeginning(own, signed, header.consistency.map(decodeBase64))
  if (!isSigned) throw new SkerryError('changed_archive', 'its entries do not match the server’s signature')
  return { orgId, start, size, root: encodeBase64(own.root) }
}

function headerOf(line: string): AuditArchiveHeader {
  const header = objectOf(line, 1) as Partial<AuditArchiveHeader>
  const isWhole =
    header.format === auditArchiveFormat &&
    typeof header.orgId === 'string' &&
    typeof header.checkpoint === 'string' &&
    Array.isArray(header.consistency) &&
    Array.isArray(header.edge) &&
    header.edge.every(({ hash, leaves }) => typeof hash === 'string' && Number.isSafeInteger(leaves)) &&
    [header.start, header.size].every(Number.isSafeInteger)
  if (!isWhole) throw new SkerryError('malformed_archive', 'line 1 is not the header of an audit log archive')
  return header as AuditArchiveHeader
}

function objectOf(line: string, number: number): object {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value
  } catch {}
  throw new SkerryError('malformed_archive', `line ${number} is not a JSON object`)
}

/** The longest line that is read, which is longer than any line that a server writes. */
const lineCharactersMax = 4 * 1024 * 1024

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  const utf8 = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + utf8.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineCharactersMax) throw new SkerryError('malformed_archive', 'a line is too long')
    yield* lines
  }
  if (rest !== '') throw new SkerryError('malformed_archive', 'the last line is incomplete')
  return undefined
}
