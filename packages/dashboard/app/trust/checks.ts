import type { Receiver } from '@skerry/sdk/internal/directory/receivers'
import { knownDirectory } from './known.ts'

// The checks that pages make before a key is wrapped; `checkMeanings` makes those before a value is sealed. Their code is
// loaded only in a browser that knows a signed directory. Without one, the page believes the server, its memory and the words
// that people compare.

const load = () => import('./verify.ts')

/** Refuses people, tokens and workers whom the signed directory does not list with their public key. */
export async function requireListed(orgId: string, receivers: readonly Receiver[]): Promise<void> {
  if (knownDirectory(orgId) === null || receivers.length === 0) return
  await (await load()).requireListed(orgId, receivers)
}

/** Refuses receivers of a new key of an environment who are not its signed readers. */
export async function requireReaders(
  orgId: string,
  environmentId: string,
  ownId: string,
  others: readonly Receiver[],
): Promise<void> {
  if (knownDirectory(orgId) === null) return
  await (await load()).requireReaders(orgId, environmentId, ownId, others)
}

/** Refuses a managed key that the server shows under another name than the signed one, and a name that nobody signed. */
export async function requireManagedName(orgId: string, key: { id: string; name: string }): Promise<void> {
  if (knownDirectory(orgId) === null) return
  await (await load()).requireManagedName(orgId, key)
}

/** Refuses a person who does not sign the directory as the signer of a policy. */
export async function requirePolicySigner(orgId: string): Promise<void> {
  if (knownDirectory(orgId) === null) return
  await (await load()).requirePolicySigner(orgId)
}

/** Refuses a version of a managed key that is not the signed one. */
export async function requireManagedKey(
  orgId: string,
  key: { id: string; name: string; version: number },
  wrappedKey: string,
): Promise<void> {
  if (knownDirectory(orgId) === null) return
  await (await load()).requireManagedKey(orgId, key, wrappedKey)
}
