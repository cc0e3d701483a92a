import { api } from '../api.ts'
import { keyring } from '../keyring.ts'

/** An environment's key, as this person holds it, wrapped in the keyring's worker to somebody else's. */
export async function wrapEnvironmentKey(orgId: string, envId: string, publicKeyJwk: string): Promise<string> {
  const { wrappedDek } = await api.grants.own({ params: { orgId, envId } })
  const [wrapped = ''] = await keyring.call('wrapForOthers', { wrappedDek, publicKeyJwks: [publicKeyJwk] })
  return wrapped
}
