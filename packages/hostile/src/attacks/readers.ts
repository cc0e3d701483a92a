import { generateKeyPair } from '@skerry/crypto/keys'
import { newId } from '@skerry/crypto/random'
import type { Attack } from '../attack.ts'

// Lies about people, tokens and keys to which a client is about to wrap the key of an environment.

export const readers: readonly Attack[] = [
  {
    id: 'added-reader',
    title: 'The server adds a token of its own to the readers of a re-key',
    act: 'rekey',
    begin: async ({ liar }) => {
      const { publicKeyJwk } = await generateKeyPair()
      const evil = { principalType: 'service_token', principalId: newId('serviceToken'), name: 'deploy', publicKeyJwk }
      liar.lie(/\/grantees/, (body) => ({ ...body, grantees: [...body.grantees, evil] }))
    },
  },
  {
    id: 'swapped-key-of-a-person',
    title: 'The server shows its own key as the key of a colleague',
    act: 'grant',
    begin: async ({ liar, bob }) => {
      const { publicKeyJwk } = await generateKeyPair()
      liar.lie(/\/members/, (body) => ({
        ...body,
        members: body.members?.map((one: { userId: string }) => (one.userId === bob ? { ...one, publicKeyJwk } : one)),
      }))
    },
  },
  {
    id: 'false-recovery-key',
    title: 'The server shows its own key as the recovery key of the organization',
    act: 'rekey',
    begin: async ({ liar }) => {
      const { publicKeyJwk: recoveryPublicKeyJwk } = await generateKeyPair()
      liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk }))
    },
  },
]
