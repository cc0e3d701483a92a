import { newTaskToken } from '@skerry/crypto/task-token'
import { newToken, type TokenFormat } from '@skerry/crypto/token'

export const tokenOperations = {
  /** A new service token or decoy. Its private key stays here; `token` is shown to the person once. */
  newToken: async ({ format }: { format: TokenFormat }) => {
    const { token, tokenId, tokenHash, publicKeyJwk } = await newToken(format)
    return { token, tokenId, tokenHash, publicKeyJwk }
  },

  /** The token of an agent’s task, shown to the person once. */
  newTaskToken: async (_: object) => newTaskToken(),
}
