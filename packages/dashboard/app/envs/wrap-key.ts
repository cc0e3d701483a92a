import { isAlreadyGranted } from '@skerry/sdk/errors'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { requireListed } from '../trust/checks.ts'
import { environmentShared, noteReaders } from './known-readers.ts'

/** A reader that the person has chosen. */
interface ChosenReader {
  principalId: string
  publicKeyJwk: string
}

/** A person or a token, with the fingerprint that was compared in this browser. */
export interface ComparedReader extends ChosenReader {
  fingerprint: string
}

/**
 * Wraps an environment's key to a reader, in the keyring's worker, which wraps it only to the public key with the compared
 * fingerprint.
 */
export async function wrapToCompared(
  orgId: string,
  envId: string,
  { principalId, publicKeyJwk, fingerprint }: ComparedReader,
): Promise<{ wrappedDek: string; ownWrappedDek: string }> {
  await requireListed(orgId, [{ principalId, publicKeyJwk }])
  const { wrappedDek: ownWrappedDek } = await api.grants.own({ params: { orgId, envId } })
  const receivers = [{ publicKeyJwk, fingerprint }]
  const key = { environmentId: envId, wrappedDek: ownWrappedDek }
  const [wrappedDek = ''] = await keyring.call('wrapForCompared', { ...key, receivers })
  return { wrappedDek, ownWrappedDek }
}

/** Wraps an environment's key to a reader, in the keyring's worker. The reader is then remembered as known. */
export async function wrapEnvironmentKey(orgId: string, envId: string, reader: ChosenReader): Promise<string> {
  const { wrappedDek } = await api.grants.own({ params: { orgId, envId } })
  const key = { environmentId: envId, wrappedDek }
  const [wrapped = ''] = await keyring.call('wrapForOthers', { ...key, publicKeyJwks: [reader.publicKeyJwk] })
  await noteReaders(await environmentShared(envId, wrappedDek), [reader])
  return wrapped
}

/**
 * Grants one key, for some time if `seconds` is given. A principal who has it already is no error.
 */
export async function grantOne(
  orgId: string,
  envId: string,
  to: ComparedReader & { principalType: 'user' | 'service_token' },
  seconds: number | null = null,
): Promise<void> {
  const params = { orgId, envId }
  const { principalType, principalId } = to
  const { wrappedDek, ownWrappedDek } = await wrapToCompared(orgId, envId, to)
  try {
    await api.grants.create({
      params,
      body: { principalType, principalId, wrappedDek, ...(seconds === null ? {} : { seconds }) },
    })
  } catch (error) {
    if (!isAlreadyGranted(error)) throw error
  }
  await noteReaders(await environmentShared(envId, ownWrappedDek), [to])
}
