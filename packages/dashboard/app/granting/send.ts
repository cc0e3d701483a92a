import { RefusedError, SkerryError, UnavailableError } from '@skerry/sdk/errors'
import {
  grantBatches,
  type SentGrant,
  sendGrants,
  type WantedGrant,
  type WrapKeys,
} from '@skerry/sdk/internal/granting'
import { api } from '../api.ts'
import { environmentShared, noteReaders } from '../envs/known-readers.ts'
import { comparedPin } from '../envs/pins.ts'
import { keyring } from '../keyring.ts'
import { requireListed } from '../trust/checks.ts'

/** Called after each environment, with the error if not everybody has its key. */
export type OnSettled = (environmentId: string, problem: string | null) => void

/**
 * Grants the keys, one environment after the other. The keyring's worker wraps each key, and only to public keys that were
 * compared in this browser. Run it again after an interruption: a key that somebody has already counts as granted.
 */
export async function sendAll(orgId: string, wanted: readonly WantedGrant[], onSettled: OnSettled): Promise<void> {
  await keyring.unlock()
  for (const [environmentId, grants] of Map.groupBy(wanted, (one) => one.environmentId))
    onSettled(environmentId, await problemOf(() => sendOne(orgId, environmentId, grants)))
}

/** Returns the text of a refusal. Any other failure ends the work, because it would fail for every environment. */
export async function problemOf(work: () => Promise<string | null>): Promise<string | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SkerryError) || error instanceof UnavailableError) throw error
    return error.message
  }
}

/** Grants the key of one environment. Returns a text if somebody did not get it. */
async function sendOne(orgId: string, environmentId: string, grants: WantedGrant[]): Promise<string | null> {
  const wrappedDek = await ownKey(orgId, environmentId)
  if (wrappedDek === null) return problemWords.not_held
  const wrap: WrapKeys = async (_, receivers) => {
    const compared = receivers.map(({ principalId, publicKeyJwk }) => ({
      publicKeyJwk,
      fingerprint: comparedPin(principalId)?.fingerprint ?? '',
    }))
    await requireListed(orgId, receivers)
    const key = { environmentId, wrappedDek }
    const wrappedDeks = await keyring.call('wrapForCompared', { ...key, receivers: compared })
    return { ownWrappedDek: wrappedDek, wrappedDeks }
  }
  const sent: SentGrant<WantedGrant>[] = []
  for (const batch of grantBatches(grants)) sent.push(...(await sendGrants(api, orgId, batch, wrap)))
  const done = sent.filter(({ outcome }) => outcome === 'done' || outcome === 'already')
  await noteReaders(
    await environmentShared(environmentId, wrappedDek),
    done.map(({ wanted }) => wanted),
  )
  const failed = sent.find((one) => !done.includes(one))
  return failed ? problemWords[failed.reason ?? 'not_held'] : null
}

/** Returns this person's wrapped key, or null if they do not hold it. */
async function ownKey(orgId: string, envId: string): Promise<string | null> {
  try {
    return (await api.grants.own({ params: { orgId, envId } })).wrappedDek
  } catch (error) {
    if (error instanceof RefusedError && (error.code === 'forbidden' || error.code === 'not_found')) return null
    throw error
  }
}

const problemWords: Readonly<Record<NonNullable<SentGrant<WantedGrant>['reason']>, string>> = {
  no_environment: 'It was deleted.',
  not_held: 'You no longer hold its key.',
  key_replaced: 'Its key was replaced meanwhile. Try again.',
  no_principal: 'A person or token is no longer there.',
  public_key_changed: 'The key of a person has changed. Compare the words again.',
  bound_elsewhere: 'The token is bound to another environment.',
  not_planned: 'The team no longer asks for it.',
}
