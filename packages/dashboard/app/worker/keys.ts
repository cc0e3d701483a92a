import type { Bytes } from '@skerry/crypto/base64url'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import {
  openWithKitCode,
  openWithPasskey,
  openWithPassphrase,
  sealWithKitCode,
  sealWithPasskey,
  sealWithPassphrase,
} from '@skerry/crypto/keyring'
import { generateKeyPair, publicKeyJwkOf } from '@skerry/crypto/keys'
import { newKitCode } from '@skerry/crypto/kit-code'
import { judgePassphrase } from '@skerry/crypto/passphrase'
import { heldKey, hold } from './held.ts'

interface Passkey {
  userId: string
  credentialId: string
  prfOutput: Bytes
}

// The private key is extractable, so that it can be sealed under another passkey. It still cannot leave the worker: see
// worker.ts.
const options = { extractable: true }

export const keyOperations = {
  passphraseProblem: ({ passphrase, about }: { passphrase: string; about: string[] }) =>
    judgePassphrase(passphrase, about),

  fingerprintWords: ({ publicKeyJwk }: { publicKeyJwk: string }) => fingerprintWords(publicKeyJwk),

  /** Creates the person's key pair, and leaves the keyring unlocked. */
  createKeys: async ({ passphrase, userId }: { passphrase: string; userId: string }) => {
    const { privateKey, publicKeyJwk } = await generateKeyPair()
    const encryptedPrivateKey = await sealWithPassphrase(privateKey, passphrase, userId)
    hold(privateKey)
    return { publicKeyJwk, encryptedPrivateKey }
  },

  /** Returns the public key of the decrypted key, to compare with the one from the server. */
  unlockWithPassphrase: async (input: { encryptedPrivateKey: string; passphrase: string; userId: string }) => {
    const { encryptedPrivateKey, passphrase, userId } = input
    hold(await openWithPassphrase(encryptedPrivateKey, passphrase, userId, options))
    return publicKeyJwkOf(heldKey())
  },

  unlockWithPasskey: async (input: Passkey & { encryptedPrivateKey: string }) => {
    const { encryptedPrivateKey, prfOutput, userId, credentialId } = input
    hold(await openWithPasskey(encryptedPrivateKey, prfOutput, userId, credentialId, options))
    return publicKeyJwkOf(heldKey())
  },

  /** The code comes from the recovery kit as the person typed it. */
  unlockWithKitCode: async (input: {
    encryptedPrivateKey: string
    code: string
    userId: string
    publicKeyJwk: string
  }) => {
    const { encryptedPrivateKey, code, userId, publicKeyJwk } = input
    hold(await openWithKitCode(encryptedPrivateKey, code, { userId, publicKeyJwk }, options))
    return publicKeyJwkOf(heldKey())
  },

  /** Makes the code of a recovery kit, for the page to show, and seals the private key under it. */
  makeKitCode: async ({ userId }: { userId: string }) => {
    const code = await newKitCode()
    return { code, encryptedPrivateKey: await sealWithKitCode(heldKey(), code, userId) }
  },

  sealUnderPassphrase: ({ passphrase, userId }: { passphrase: string; userId: string }) =>
    sealWithPassphrase(heldKey(), passphrase, userId),

  sealForPasskey: ({ prfOutput, userId, credentialId }: Passkey) =>
    sealWithPasskey(heldKey(), prfOutput, userId, credentialId),
}
