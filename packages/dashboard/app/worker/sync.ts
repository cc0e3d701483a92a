import { newId } from '@skerry/crypto/random'

export const syncOperations = {
  /** Returns an ID for a connection that does not exist yet. The server makes the connection's key for this ID. */
  newConnectionId: async () => newId('syncConnection'),
}
