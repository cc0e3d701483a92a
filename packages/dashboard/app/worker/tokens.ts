import { newToken, type TokenFormat } from '@skerry/crypto/token'

export const tokenOperations = {
  /** A service token, or a decoy, at its birth. Its private key stays here; `token` is for the person, shown once. */
  newToken: async ({ format }: { format: TokenFormat }) => {
    const { token, tokenId, tokenHash, publicKeyJwk } = await newToken(format)
    return { token, tokenId, tokenHash, publicKeyJwk }
  },
}
