import { newTaskToken } from '@skerry/crypto/task-token'
import { newToken, type TokenFormat } from '@skerry/crypto/token'

export const tokenOperations = {
  /** Creates a service token or a decoy. Its private key stays here. The person is shown `token` once. */
  newToken: async ({ format }: { format: TokenFormat }) => {
    const { token, tokenId, tokenHash, publicKeyJwk } = await newToken(format)
    return { token, tokenId, tokenHash, publicKeyJwk }
  },

  /** Creates the token of an agent's task. The person is shown it once. */
  newTaskToken: async (_: object) => newTaskToken(),
}
