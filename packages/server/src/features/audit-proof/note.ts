import type { Signer } from '../../keys/export-key.ts'
import { sha256 } from './tree.ts'

/** The origin of an organization's checkpoints, which is also the name of the key that signs them. */
const originOf = (orgId: string): string => `skerry/${orgId}`

const ed25519 = 1
const newline = Buffer.from('\n')

/** Makes a checkpoint in the format of C2SP tlog-checkpoint, signed in the format of C2SP signed-note. */
export function signCheckpoint(signer: Signer, orgId: string, size: number, root: Buffer): string {
  const name = originOf(orgId)
  const text = `${name}\n${size}\n${root.toString('base64')}\n`
  const keyHash = sha256(Buffer.from(name), newline, Buffer.of(ed25519), signer.publicKey).subarray(0, 4)
  return `${text}\n— ${name} ${Buffer.concat([keyHash, signer.sign(text)]).toString('base64')}\n`
}
