import { encodeUtf8 } from '@skerry/crypto/base64url'
import { wrapKey } from '@skerry/crypto/wrap'
import { sealAdminSecret } from '@skerry/sdk/internal/admin-secrets'
import { type LeaseWish, type Prepared, prepareLease } from '@skerry/sdk/internal/lease-making'

/**
 * Opens the answer for the latest requested lease. It holds the password or private key, which has not left this
 * worker.
 */
let asked: Prepared['open'] | undefined

/** None of these operations needs the person's key. */
export const leaseOperations = {
  /** Wraps an admin credential to the server, which can then read it. */
  wrapForServer: ({ text, publicKeyJwk }: { text: string; publicKeyJwk: string }) =>
    wrapKey(encodeUtf8(text), publicKeyJwk),

  /** Seals an admin credential for a provisioner, together with the settings that it is valid for. */
  sealForProvisioner: ({ publicKeyJwk, ...sealed }: Parameters<typeof sealAdminSecret>[0] & { publicKeyJwk: string }) =>
    sealAdminSecret(sealed, publicKeyJwk),

  /** Returns the body of the request for a lease. */
  prepareLease: async (wish: LeaseWish) => {
    const { body, open } = await prepareLease(wish)
    asked = open
    return body
  },

  /** Checks the answer against the request, and returns everything that is needed to use the lease. */
  openLease: async (answer: Parameters<Prepared['open']>[0]) => {
    const open = asked
    asked = undefined
    if (!open) throw new Error('no lease has been asked for')
    return open(answer)
  },
}
