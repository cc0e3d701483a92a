import type { Client } from '@skerry/sdk/client'
import { signingWhenSigned } from '@skerry/sdk/internal/directory/when-signed'
import { knownDirectory } from './known.ts'

/**
 * Makes the client that signs changes in organizations with a signed directory. As long as this browser knows no directory
 * of the organization, it asks the server before each change, because somebody may have started one.
 */
export function signing(client: Client): Client {
  const isSigned = async (orgId: string): Promise<boolean> =>
    knownDirectory(orgId) !== null || (await client.directory.get({ params: { orgId } })).directory !== null
  return signingWhenSigned(client, isSigned, async () => (await import('./signatory.ts')).signingClientOf(client))
}
