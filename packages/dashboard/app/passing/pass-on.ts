import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { isAlreadyGranted, RefusedError } from '@skerry/sdk/errors'
import { api } from '../api.ts'
import { environmentShared, noteReaders } from '../envs/known-readers.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { type ComparedReader, wrapToCompared } from '../envs/wrap-key.ts'
import { keyring } from '../keyring.ts'
import type { WantedKey } from './queries.ts'

type Conflict = Answer<typeof grants.createMany>['results'][number]['reason']

/** `done`: the person has the key now, from this browser or from another admin. */
export interface PassedKey {
  key: WantedKey
  outcome: 'done' | 'refused'
  reason: Conflict | 'ended'
}

/** So many keys are stored in one request. An interruption loses the work on these alone. */
const atOnce = 10

/**
 * Wraps keys to a person in the keyring's worker, and stores them. Call it again for the rest after an interruption: keys
 * that the person has are not wrapped again, because the server no longer lists them.
 *
 * @throws Cancelled if the person of the dashboard declines an environment whose name belonged to another one before.
 */
export async function passOn(
  orgId: string,
  to: ComparedReader,
  keys: readonly WantedKey[],
  onProgress: (done: number) => void,
): Promise<PassedKey[]> {
  if (keys.length === 0) return []
  await checkMeanings(keys.map(({ environmentId }) => environmentId))
  await keyring.unlock()
  const passed: PassedKey[] = []
  for (let at = 0; at < keys.length; at += atOnce) {
    passed.push(...(await passBatch(orgId, to, keys.slice(at, at + atOnce))))
    onProgress(passed.length)
  }
  return passed
}

interface Wrapped {
  key: WantedKey
  wrappedDek: string
  ownWrappedDek: string
}

async function passBatch(orgId: string, to: ComparedReader, batch: readonly WantedKey[]): Promise<PassedKey[]> {
  const wrapped = await Promise.all(batch.map((key) => wrap(orgId, to, key)))
  const lost = batch.filter((_, i) => wrapped[i] === null)
  const ready = wrapped.filter((one) => one !== null)
  const temporary = ready.filter(({ key }) => key.seconds !== null)
  return [
    ...lost.map((key): PassedKey => ({ key, outcome: 'refused', reason: 'not_held' })),
    ...(await storeTogether(
      orgId,
      to,
      ready.filter(({ key }) => key.seconds === null),
    )),
    ...(await Promise.all(temporary.map((one) => storeForSomeTime(orgId, to, one)))),
  ]
}

/** Returns null if this person has lost the key meanwhile. */
async function wrap(orgId: string, to: ComparedReader, key: WantedKey): Promise<Wrapped | null> {
  try {
    return { key, ...(await wrapToCompared(orgId, key.environmentId, to)) }
  } catch (error) {
    if (isRefused(error, 'forbidden') || isRefused(error, 'not_found')) return null
    throw error
  }
}

const isRefused = (error: unknown, code: RefusedError['code']) => error instanceof RefusedError && error.code === code

/** Stores lasting keys. The server looks at each row again: the public key, this person's key, and the wish of the team. */
async function storeTogether(orgId: string, to: ComparedReader, rows: readonly Wrapped[]): Promise<PassedKey[]> {
  if (rows.length === 0) return []
  const given = rows.map(({ key, wrappedDek, ownWrappedDek }) => ({
    environmentId: key.environmentId,
    principalType: 'user' as const,
    principalId: to.principalId,
    publicKeyJwk: to.publicKeyJwk,
    wrappedDek,
    ownWrappedDek,
    ...(key.direct ? {} : { direct: false }),
  }))
  const { results } = await api.grants.createMany({ params: { orgId }, body: { grants: given } })
  return Promise.all(
    rows.map(async (row, i): Promise<PassedKey> => {
      const { result, reason } = results[i] ?? { result: 'conflict', reason: null }
      if (result === 'conflict') return { key: row.key, outcome: 'refused', reason }
      return noteDone(to, row)
    }),
  )
}

async function storeForSomeTime(orgId: string, to: ComparedReader, row: Wrapped): Promise<PassedKey> {
  const { key, wrappedDek } = row
  const params = { orgId, envId: key.environmentId }
  const seconds = key.seconds === null ? {} : { seconds: key.seconds }
  try {
    const body = { principalType: 'user' as const, principalId: to.principalId, wrappedDek, ...seconds }
    await api.grants.create({ params, body })
  } catch (error) {
    if (isAlreadyGranted(error)) return noteDone(to, row)
    if (error instanceof RefusedError && error.code !== 'rate_limited')
      return { key, outcome: 'refused', reason: 'ended' }
    throw error
  }
  return noteDone(to, row)
}

/** Remembers the reader, so that the next re-key does not ask about them. */
async function noteDone(to: ComparedReader, { key, ownWrappedDek }: Wrapped): Promise<PassedKey> {
  await noteReaders(await environmentShared(key.environmentId, ownWrappedDek), [to])
  return { key, outcome: 'done', reason: null }
}

const reasons: Partial<Record<NonNullable<Conflict>, string>> = {
  no_environment: 'was deleted',
  not_held: 'you no longer hold a key that can be passed on',
  key_replaced: 'was re-keyed meanwhile. Press again',
  no_principal: 'the person has left',
  public_key_changed: 'the person has another key now. Compare the words again',
  not_planned: 'is no longer asked for',
}

/** Says why a key was not passed on. */
export const reasonText = (reason: PassedKey['reason']): string =>
  (reason !== null && reason !== 'ended' && reasons[reason]) || 'the server refused it'
