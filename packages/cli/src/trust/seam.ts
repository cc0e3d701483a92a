import { operations } from '@skerry/contract/operations.gen'
import type { Client } from '@skerry/sdk/client'

type Call = (input?: { params?: Record<string, string> }, options?: unknown) => Promise<unknown>

/**
 * Makes the client of a session. In an organization whose directory this machine knows, it passes changes to the signing
 * client. That one is loaded at the first such change, because most commands change nothing that is signed.
 */
export function signingWhenKnown(
  client: Client,
  isKnown: (orgId: string) => boolean,
  open: () => Promise<Client>,
): Client {
  const calls = client as unknown as Record<string, Record<string, Call>>
  const headings = Object.entries(operations).map(([heading, table]) => {
    const changes = Object.entries(table)
      .filter(([, { method, path }]) => method !== 'GET' && path.startsWith('/v1/orgs/:orgId/'))
      .map(([name]) => {
        const call: Call = async (input, options) => {
          const orgId = input?.params?.orgId
          if (orgId === undefined || heading === 'directory' || !isKnown(orgId))
            return calls[heading]![name]!(input, options)
          const signing = (await open()) as unknown as typeof calls
          return signing[heading]![name]!(input, options)
        }
        return [name, call]
      })
    return [heading, Object.freeze({ ...calls[heading], ...Object.fromEntries(changes) })]
  })
  return Object.freeze({ ...client, ...Object.fromEntries(headings) }) as Client
}
