import { decodeUtf8 } from '@skerry/crypto/base64url'
import { fingerprint } from '@skerry/crypto/digest'
import { environmentKeyCommitment, managedKeyCommitment } from '@skerry/crypto/directory/commitments'
import { parsePin } from '@skerry/crypto/directory/pin'
import { signerOfPerson } from '@skerry/crypto/directory/signing'
import { CryptoError } from '@skerry/crypto/errors'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { unwrapKey } from '@skerry/crypto/wrap'
import { heldKey } from './held.ts'

/** A head or a root. The signing key of a person signs nothing else here. */
const signable = /^(?:od1|or1)\./

export const directoryOperations = {
  /** The person's signing key in the directory, and the thumbprint of the key that opens what is wrapped to them. */
  directorySigner: async (_: object) => {
    const { kid, jwk } = await signerOfPerson(heldKey())
    return { signer: { kid, jwk }, ownKid: await fingerprint(publicKeyJwkOf(heldKey())) }
  },

  signDocument: async ({ document }: { document: Uint8Array<ArrayBuffer> }) => {
    if (!signable.test(decodeUtf8(document.slice(0, 4))))
      throw new CryptoError('invalid_argument', 'this is no head or root')
    return (await signerOfPerson(heldKey())).sign(document)
  },

  /** Commits to an environment's key without revealing it. */
  environmentCommitment: async ({ id, blob }: { id: string; blob: string }) =>
    environmentKeyCommitment(id, await unwrapKey(blob, heldKey())),

  managedCommitment: async ({ id, version, blob }: { id: string; version: number; blob: string }) =>
    managedKeyCommitment(id, version, await unwrapKey(blob, heldKey())),

  /** Needs no private key. */
  parsePin: async ({ text }: { text: string }) => parsePin(text),
}
