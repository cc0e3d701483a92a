import { createHash, createPublicKey, verify } from 'node:crypto'
import { type ArchiveRow, type CheckedArchive, checkArchive } from '@skerry/contract/export/archive-check'
import type { Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Exports the organization and returns the bytes of the archive. */
export async function archiveOf(world: World, { orgId, admin }: Tenant, body: object = {}): Promise<Buffer> {
  const response = await fetch(`${world.url}/v1/orgs/${orgId}/export`, {
    method: 'POST',
    headers: { authorization: admin.as, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(await response.text())
  return Buffer.from(await response.arrayBuffer())
}

/** Checks an archive, with the server's public signing key if one is given, and returns its rows by section. */
export async function readArchive(
  bytes: Uint8Array,
  publicKey?: string,
): Promise<CheckedArchive & { data: Record<string, Record<string, unknown>[]> }> {
  const rows: ArchiveRow[] = []
  const checked = await checkArchive(inPieces(bytes), {
    sha256: () => createHash('sha256'),
    verify: publicKey === undefined ? undefined : (text, { value }) => isSignedBy(publicKey, text, value),
    onRow: (row) => void rows.push(row),
  })
  const data: Record<string, Record<string, unknown>[]> = {}
  for (const { section, text } of rows) {
    data[section] ??= []
    data[section].push(JSON.parse(text))
  }
  return { ...checked, data }
}

/** Yields the bytes in pieces of 1000, so that a piece may end in the middle of a line. */
async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += 1000) yield bytes.subarray(from, from + 1000)
}

function isSignedBy(publicKey: string, text: string, value: string): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  const signature = Buffer.from(value, 'base64url')
  return signature.toString('base64url') === value && verify(null, Buffer.from(text), key, signature)
}
