import type { AccessFacts } from '@skerry/contract/reference-model'
import type { Route } from '../../http/route.ts'

/** What the names of accesses (`http/access.ts`) ask of a caller, for readers who do not read that file. */
export const accessWords: Readonly<Record<string, string>> = {
  open: 'No credential; the reason follows',
  limited: 'As inside, and a rate limit for the address of the caller',
  authenticated: 'Any valid credential, even of a person whose second factor is still to be entered',
  signedIn: 'Any valid credential; a person who has a second factor here has entered it in this session',
  awaitingSecondFactor: 'A person at a browser, whose second factor may still have to be entered',
  person: 'A signed-in person: no service token, no machine client',
  browser: 'A person at a browser: no CLI session, no service token, no machine client',
  fresh: 'As inside; whoever has a second factor has entered it within the last ten minutes',
  member: 'Whoever belongs to the organization: a member, one of its service tokens or machine clients',
  admin: 'An owner or admin of the organization, an admin service token, or a machine client',
  userAdmin: 'A signed-in person who is an owner or admin: no service token, no machine client',
  resolver: 'A person or a service token, with a key grant on every layer of the answer',
  keyed: 'As inside, but no machine client, for that can hold no key',
  app: 'As inside; the application is one of the organization',
  group: 'As inside; the group is one of the organization',
  env: 'As inside; the environment is one of the organization, and has not expired',
  token: 'As inside; the service token is one of the organization',
  honeyToken: 'As inside; the honey token is one of the organization',
  invite: 'As inside; the invitation is one of the organization',
  grant: 'As inside; the key grant is one on the environment',
  grantee: 'As inside, with a key grant on the environment; no machine client',
  granteeOrMachine: 'As inside, with a key grant on the environment; or a machine client',
  branchHolderOrAdmin: 'An admin; on a branch also whoever holds a key grant on it',
  change: 'As inside; the change request is one of the organization',
  proposerOrAdmin: 'An admin; or whoever proposed the change, token and machine client included',
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
