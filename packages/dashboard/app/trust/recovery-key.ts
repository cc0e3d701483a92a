import { SkerryError } from '@skerry/sdk/errors'
import { checkRecoveryKey } from '@skerry/sdk/internal/directory/recovery-key'
import { api } from '../api.ts'
import { showErrorToast } from '../ui/toast.ts'
import { knownDirectory, rememberDirectory } from './known.ts'
import { readably } from './signatory.ts'

const memory = {
  read: async (orgId: string) => knownDirectory(orgId),
  write: async (orgId: string, known: Parameters<typeof rememberDirectory>[1]) => rememberDirectory(orgId, known),
}

/**
 * Returns the recovery key if the newest root names it. Call it in an organization whose signed directory this browser knows.
 *
 * @returns null without a recovery key. If nobody has signed the key, or if the server shows none, the person is told.
 * @throws SkerryError `wrong_key` if the root names another key.
 */
export async function signedRecoveryKey(orgId: string): Promise<string | null> {
  const { recoveryPublicKeyJwk } = await api.recovery.publicKey({ params: { orgId } })
  const trust = { pins: [], memory, purpose: 'write' } as const
  const { state } = await readably(() => checkRecoveryKey(api, orgId, recoveryPublicKeyJwk, trust))
  if (state === 'differs')
    throw new SkerryError(
      'wrong_key',
      'the server shows another recovery key than the signed directory. If someone on your team replaced it, a signer runs skerry trust sign recovery',
    )
  if (state === 'unsigned')
    showErrorToast(
      'Custodians cannot recover this',
      'Nobody has signed the recovery key. A signer runs skerry trust sign recovery. Then cover the environments on the page Recovery.',
    )
  if (state === 'hidden')
    showErrorToast(
      'Custodians cannot recover this',
      'The signed directory names a recovery key, but the server shows none. If nobody on your team ended recovery, do not use this server.',
    )
  return state === 'signed' ? recoveryPublicKeyJwk : null
}
