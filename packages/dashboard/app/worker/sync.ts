import { newId } from '@skerry/crypto/random'

export const syncOperations = {
  /** An id for a connection that does not exist yet: the server makes its key under it. */
  newConnectionId: async () => newId('syncConnection'),
}
