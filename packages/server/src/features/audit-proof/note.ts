import type { Signer } from '../../keys/export-key.ts'
import { sha256 } from './tree.ts'

/** What notes about an organization's trail are named after: their origin, and the name of the key that signs them. */
const originOf = (orgId: string): string => `skerry/${orgId}`

const ed25519 = 1
const newline = Buffer.from('\n')

/** A checkpoint as C2SP tlog-checkpoint has it, signed as C2SP signed-note has it. */
export function signCheckpoint(signer: Signer, orgId: string, size: number, root: Buffer): string {
  const name = originOf(orgId)
  const text = `${name}\n${size}\n${root.toString('base64')}\n`
  const keyHash = sha256(Buffer.from(name), newline, Buffer.of(ed25519), signer.publicKey).subarray(0, 4)
  return `${text}\n— ${name} ${Buffer.concat([keyHash, signer.sign(text)]).toString('base64')}\n`
}
