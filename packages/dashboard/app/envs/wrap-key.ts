import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { environmentShared, noteReaders } from './known-readers.ts'

/** Whom the person has chosen to give a key to. */
interface ChosenReader {
  principalId: string
  publicKeyJwk: string
}

/** An environment's key, as this person holds it, wrapped in the keyring's worker to a reader, who is known from then on. */
export async function wrapEnvironmentKey(orgId: string, envId: string, reader: ChosenReader): Promise<string> {
  const { wrappedDek } = await api.grants.own({ params: { orgId, envId } })
  const [wrapped = ''] = await keyring.call('wrapForOthers', { wrappedDek, publicKeyJwks: [reader.publicKeyJwk] })
  await noteReaders(await environmentShared(envId, wrappedDek), [reader])
  return wrapped
}
