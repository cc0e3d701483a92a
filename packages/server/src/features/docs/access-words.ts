import type { AccessFacts } from '@skerry/contract/reference-model'
import type { Route } from '../../http/route.ts'

/** What the names of accesses (`http/access.ts`) ask of a caller, for readers who do not read that file. */
export const accessWords: Readonly<Record<string, string>> = {
  open: 'No credential; the reason follows',
  limited: 'As inside, and a rate limit for the address of the caller',
  anyone: 'Any valid credential',
  person: 'A signed-in person: no service token, no machine client',
  member: 'Whoever belongs to the organization: a member, one of its service tokens or machine clients',
  admin: 'An owner or admin of the organization, an admin service token, or a machine client',
  resolver: 'A person or a service token, with a key grant on every layer of the answer',
  keyed: 'As inside, but no machine client, for that can hold no key',
  app: 'As inside; the application is one of the organization',
  group: 'As inside; the group is one of the organization',
  env: 'As inside; the environment is one of the organization, and has not expired',
  token: 'As inside; the service token is one of the organization',
  invite: 'As inside; the invitation is one of the organization',
  grant: 'As inside; the key grant is one on the environment',
  grantee: 'As inside, with a key grant on the environment; no machine client',
  granteeOrMachine: 'As inside, with a key grant on the environment; or a machine client',
  branchHolderOrAdmin: 'An admin; on a branch also whoever holds a key grant on it',
}

/**
 * The words that an access name is made of.
 *
 * @example wordsOf('limited(signup, open: makes a tenant)') // ['limited', 'open']
 */
export function wordsOf(accessName: string): string[] {
  return (
    accessName
      .replace(/open: .*/, 'open')
      .replace(/limited\(\w+, /, 'limited(')
      .match(/\w+/g) ?? []
  )
}

/** What the reference shows of who may call what. */
export function accessFacts(routes: Route[]): AccessFacts {
  const names = routes.map(({ endpoint, access }) => [`${endpoint.method} ${endpoint.path}`, access.name] as const)
  return { names: new Map(names), words: accessWords }
}
