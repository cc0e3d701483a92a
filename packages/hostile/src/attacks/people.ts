import { generateKeyPair } from '@skerry/crypto/keys'
import { newSealingMaterial } from '@skerry/crypto/kms'
import { newId } from '@skerry/crypto/random'
import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Json } from '../../../cli/test/hostile/liar.ts'
import { type Attack, everywhere } from '../attack.ts'
import { vouchedEnvironment } from '../signed.ts'
import type { Stage } from '../stage.ts'
import { answerWith, strangersDirectory } from './directories.ts'

// Lies to a person: about the readers of a key, about keys, and about the person’s own keyring.

async function showOwnRecoveryKey({ liar }: Stage): Promise<void> {
  const { publicKeyJwk: recoveryPublicKeyJwk } = await generateKeyPair()
  liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk }))
  liar.lie(/\/recovery$/, (body) => ({ ...body, recovery: { ...body.recovery, recoveryPublicKeyJwk } }))
}

export const people: readonly Attack[] = [
  {
    id: 'added-reader',
    title: 'Before a person re-keys an environment, the server adds its own token to the readers',
    act: 'rekey',
    begin: async ({ liar }) => {
      const { publicKeyJwk } = await generateKeyPair()
      const evil = { principalType: 'service_token', principalId: newId('serviceToken'), name: 'deploy', publicKeyJwk }
      liar.lie(/\/grantees/, (body) => ({ ...body, grantees: [...body.grantees, evil] }))
    },
  },
  {
    id: 'false-recovery-key',
    title: 'Before a person makes a branch, the server shows its own key as the recovery key of the organization',
    act: 'fork',
    begin: showOwnRecoveryKey,
  },
  {
    id: 'false-recovery-key-at-a-re-key',
    title:
      'Before a person re-keys an environment, the server shows its own key as the recovery key of the organization',
    act: 'replace',
    begin: showOwnRecoveryKey,
  },
  {
    id: 'false-recovery-key-to-cover',
    title:
      'The server shows its own key as the recovery key. A script then runs `skerry recovery cover --reader recovery`, which wraps environment keys to the recovery key',
    act: 'cover',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin' },
    begin: showOwnRecoveryKey,
  },
  {
    id: 'hidden-recovery-key',
    title: 'Before a person makes a branch, the server hides the recovery key',
    act: 'fork',
    remains: everywhere('a-hidden-recovery-key'),
    begin: ({ liar }) => liar.lie(/\/recovery\/public-key/, () => ({ recoveryPublicKeyJwk: null })),
  },
  {
    id: 'swapped-key-of-a-person',
    title: 'Before a person grants a key to a colleague, the server shows its own public key as the colleague’s key',
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
    id: 'key-of-the-server',
    title:
      'Before a person stores a secret, the server sends a key that it made as the environment’s key, to read the secret',
    act: 'write',
    remains: { nothing: 'without-a-pin' },
    begin: async ({ liar, keyrings }) => {
      const wrappedDek = await wrapKey(newDek(), keyrings.alice.publicKeyJwk)
      liar.lie(/\/key$/, (body) => ({ ...body, wrappedDek }))
    },
  },
  {
    id: 'swapped-ids',
    title:
      'Before a person stores a secret, the server swaps the names of two environments, so that the secret goes to the wrong one',
    act: 'write',
    remains: { nothing: 'without-a-pin' },
    begin: ({ liar }) => {
      const swapped: Readonly<Record<string, string>> = { staging: 'spare', spare: 'staging' }
      const rename = (one: Json) => ({ ...one, slug: swapped[one.slug] ?? one.slug })
      liar.lie(/\/envs(?:\?|$)/, (body) => ({ ...body, environments: body.environments.map(rename) }))
    },
  },
  {
    id: 'replaced-managed-key',
    title:
      'Before a person encrypts data with a managed key, the server replaces this key with its own key, to read the data',
    act: 'encrypt',
    remains: { nothing: 'without-a-pin' },
    begin: async ({ liar, keyrings }) => {
      const wrappedKey = await wrapKey(newSealingMaterial(), keyrings.alice.publicKeyJwk)
      liar.lie(/\/key$/, (body) => ({ ...body, grants: [{ version: 1, wrappedKey }] }))
    },
  },
  {
    id: 'cheap-passphrase',
    title: 'The server lowers the cost of the key derivation, so that the passphrase is easier to guess',
    act: 'unlock',
    begin: ({ liar }) => {
      liar.lie(/\/me\/keys/, (body) => ({
        ...body,
        encryptedPrivateKey: body.encryptedPrivateKey.replace(/^pk1\.[\d-]+/, 'pk1.8-1-1'),
      }))
    },
  },
  {
    id: 'keyring-of-another-person',
    title: 'The server sends the keyring of another person, who uses the same passphrase',
    act: 'unlock',
    begin: ({ liar, keyrings }) => liar.lie(/\/me\/keys/, (body) => ({ ...body, ...keyrings.bob })),
  },
  {
    id: 'other-own-key',
    title: 'The server shows a person the server’s public key as the person’s own public key',
    act: 'unlock',
    begin: async ({ liar }) => {
      const { publicKeyJwk } = await generateKeyPair()
      liar.lie(/\/me\/keys/, (body) => ({ ...body, publicKeyJwk }))
    },
  },
  {
    id: 'mail-with-a-false-pin',
    title:
      'A person types a pin from a mail that the server forged in a colleague’s name. The pin belongs to a directory that the server made',
    act: 'pin',
    remains: { nothing: 'a-pin-from-the-server', memory: 'a-pin-from-the-server' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const { pin, directory } = await strangersDirectory(stage, made)
      stage.mailed.pin = pin
      answerWith(stage, answer, directory)
    },
  },
]
