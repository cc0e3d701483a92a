import { encodeUtf8 } from '@skerry/crypto/base64url'
import { wrapKey } from '@skerry/crypto/wrap'
import { sealAdminSecret } from '@skerry/sdk/internal/admin-secrets'
import { type LeaseWish, type Prepared, prepareLease } from '@skerry/sdk/internal/lease-making'

/** What the lease that was asked for last is opened with: its password or private key has not left this worker. */
let asked: Prepared['open'] | undefined

/** None of these needs the person's key. */
export const leaseOperations = {
  /** An admin credential for the server, which can read it then. */
  wrapForServer: ({ text, publicKeyJwk }: { text: string; publicKeyJwk: string }) =>
    wrapKey(encodeUtf8(text), publicKeyJwk),

  /** An admin credential for a provisioner, and for the settings that it is given with alone. */
  sealForProvisioner: ({ publicKeyJwk, ...sealed }: Parameters<typeof sealAdminSecret>[0] & { publicKeyJwk: string }) =>
    sealAdminSecret(sealed, publicKeyJwk),

  /** -> what the lease is asked for with. */
  prepareLease: async (wish: LeaseWish) => {
    const { body, open } = await prepareLease(wish)
    asked = open
    return body
  },

  /** The answer, checked against what was asked for, and with it all that is needed to use the lease. */
  openLease: async (answer: Parameters<Prepared['open']>[0]) => {
    const open = asked
    asked = undefined
    if (!open) throw new Error('no lease has been asked for')
    return open(answer)
  },
}
