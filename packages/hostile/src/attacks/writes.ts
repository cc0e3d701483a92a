import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { publicKeyOf } from '../answers.ts'
import type { Attack } from '../attack.ts'
import { storedName } from '../clients/sdk-writer.ts'
import type { Stage } from '../stage.ts'

// Lies to a program that stores a secret. The hostile server keeps the value, so that the honest one never sees it.

/** Answers with a key that the server made, and takes what is sent. */
async function giveOwnKey(stage: Stage): Promise<void> {
  const wrappedDek = await wrapKey(newDek(), await publicKeyOf(stage))
  stage.liar.lie(/\/key$/, (body) => ({ ...body, wrappedDek }))
  stage.liar.refuse(new RegExp(`/secrets/${storedName}`), 'the hostile server has the value now')
}

export const writes: readonly Attack[] = [
  {
    id: 'key-of-the-server-for-a-program',
    title:
      'Before a program stores a secret, the server sends a key that it made as the environment’s key, to read the secret',
    act: 'store',
    remains: { nothing: 'without-a-pin' },
    begin: giveOwnKey,
  },
  {
    id: 'downgrade-before-a-write',
    title: 'Before a program stores a secret, the server sends a key that it made, and says that there is no directory',
    act: 'store',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      await giveOwnKey(stage)
      stage.liar.lie(/\/directory/, () => ({ directory: null }))
    },
  },
]
