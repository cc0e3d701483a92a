import { operations } from '@skerry/contract/operations.gen'
import type { Client } from '../client.ts'

type Call = (input?: { params?: Record<string, string> }, options?: unknown) => Promise<unknown>

/** The parts of the API whose changes can change an entry or the root: see `edits.ts`. All others are sent as they are. */
export const signedHeadings: ReadonlySet<string> = new Set([
  'apps',
  'changes',
  'composition',
  'envs',
  'grants',
  'groups',
  'honeyTokens',
  'invites',
  'kms',
  'members',
  'offboardings',
  'recovery',
  'recoveryRequests',
  'rekey',
  'rotation',
  'sync',
  'tokens',
])

/**
 * Makes a client that sends changes in organizations with a signed directory through another client, which signs them. That
 * one is opened at the first such change, because most programs change nothing that is signed.
 *
 * @param isSigned whether changes in the organization must be signed.
 * @param open makes the client that signs: `signingClient`.
 * @example const api = signingWhenSigned(client, () => false, async () => client)
 */
export function signingWhenSigned(
  client: Client,
  isSigned: (orgId: string) => boolean | Promise<boolean>,
  open: () => Promise<Client>,
): Client {
  let opened: Promise<Client> | undefined
  const signing = async () => {
    opened ??= open().catch((error) => {
      opened = undefined
      throw error
    })
    return (await opened) as unknown as typeof calls
  }
  const calls = client as unknown as Record<string, Record<string, Call>>
  const changing = Object.entries(operations).filter(([heading]) => signedHeadings.has(heading))
  const headings = changing.map(([heading, table]) => {
    const changes = Object.entries(table)
      .filter(([, { method, path }]) => method !== 'GET' && path.startsWith('/v1/orgs/:orgId/'))
      .map(([name]) => {
        const call: Call = async (input, options) => {
          const orgId = input?.params?.orgId
          if (orgId === undefined || !(await isSigned(orgId))) return calls[heading]![name]!(input, options)
          return (await signing())[heading]![name]!(input, options)
        }
        return [name, call]
      })
    return [heading, Object.freeze({ ...calls[heading], ...Object.fromEntries(changes) })]
  })
  return Object.freeze({ ...client, ...Object.fromEntries(headings) }) as Client
}
