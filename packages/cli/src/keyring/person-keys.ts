import { type DirectorySigner, signerOfPerson } from '@skerry/crypto/directory/signing'
import type { PrivateKey } from '@skerry/crypto/keys'
import type { KeyHolder } from '@skerry/crypto/wrap'
import { agentDirectorySigner, agentKey } from './agent-client.ts'
import { type Owner, openExtractable, personKey } from './unlock.ts'

/** The private key of a person for one command, and the key that signs the directory, which is derived from it. */
export interface PersonKeys {
  holder: () => Promise<KeyHolder>
  signer: () => Promise<DirectorySigner>
}

/**
 * Opens each key when it is first needed. The passphrase is asked for once, also if a command needs both keys.
 *
 * @param signs whether the command may sign. Only then is the key opened in a form from which another is derived.
 */
export function openPersonKeys(owner: Owner, { signs }: { signs: boolean }): PersonKeys {
  let opened: Promise<PrivateKey> | undefined
  const here = (): Promise<PrivateKey> => {
    opened ??= openExtractable(owner)
    return opened
  }
  let held: Promise<KeyHolder> | undefined
  const hold = async (): Promise<KeyHolder> =>
    opened ?? (signs ? ((await agentKey(owner.url, owner.userId)) ?? here()) : personKey(owner))
  return {
    holder: () => {
      held ??= hold()
      return held
    },
    signer: async () => (await agentDirectorySigner(owner.url, owner.userId)) ?? signerOfPerson(await here()),
  }
}
