import { CryptoError } from '@skerry/crypto/errors'
import { openWithPassphrase } from '@skerry/crypto/keyring'
import { formatPublicKeyJwk, type PrivateKey, parsePublicKeyJwk, publicKeyJwkOf } from '@skerry/crypto/keys'
import { parseKitCode } from '@skerry/crypto/kit-code'
import { type PolicySigner, policySigner } from '@skerry/crypto/policy'
import type { KeyHolder } from '@skerry/crypto/wrap'
import type { Client } from '@skerry/sdk/client'
import { openRecoveryKit } from '@skerry/sdk/recovery-kit'
import { Failure, toFailure } from '../failure.ts'
import { note, warn } from '../output.ts'
import { askHidden, canAsk } from '../prompt.ts'
import { agentKey } from './agent-client.ts'
import { passphraseFromFile, readPassphrase } from './passphrase.ts'
import { keepSealed, readSealed, type SealedKeys } from './sealed.ts'

/** The owner of a keyring, and the server that stores it. */
export interface Owner {
  client: Client
  url: string
  userId: string
}

const attempts = 3

/**
 * Returns the key of a person for one command: from the agent, or opened here with the passphrase from a file or a
 * prompt. A command asks for the key only when it must decrypt something.
 */
export async function personKey(owner: Owner): Promise<KeyHolder> {
  return (await agentKey(owner.url, owner.userId)) ?? openHere(owner)
}

/** Opens the key of a person here, in a form from which other keys can be derived. */
export const openExtractable = (owner: Owner): Promise<PrivateKey> => openHere(owner, { extractable: true })

/** The key with which a person signs policies. It is the same key, opened in the same way. */
export async function personSigner(owner: Owner): Promise<PolicySigner> {
  const kept = await agentKey(owner.url, owner.userId)
  return kept ?? policySigner(await openHere(owner, { extractable: true }))
}

async function openHere(owner: Owner, options: { extractable?: boolean } = {}): Promise<PrivateKey> {
  const passphrase = passphraseFromFile()
  // Ask the server first: a person without keys has nothing to unlock.
  const sealed = await sealedKeys(owner)
  if (passphrase === undefined && !canAsk()) throw locked()
  if (passphrase !== undefined) return openSealed(owner, sealed, passphrase, options)
  if (options.extractable) await noteAskedAgain(owner)
  return askUntilOpen(owner, sealed, options)
}

/** Without it, a person who has just unlocked the keyring takes the question for a mistake. */
async function noteAskedAgain({ url, userId }: Owner): Promise<void> {
  if (await agentKey(url, userId)) note('this command asks for your passphrase, although your keyring is unlocked')
}

/** The keyring is locked, and nobody can be asked for the passphrase. */
export class LockedFailure extends Failure {}

const locked = () =>
  new LockedFailure('refused', 'your keyring is locked', 'run `skerry keys unlock`, or set SKERRY_PASSPHRASE_FILE')

/**
 * Returns the encrypted keys of the server, or the copy on this machine if the server is unavailable. It refuses a
 * public key that differs from the copy.
 */
export async function sealedKeys(owner: Owner): Promise<SealedKeys> {
  const sealed = await storedKeys(owner)
  const kept = readSealed(owner.url, owner.userId)
  if (kept && canonical(kept.publicKeyJwk) !== canonical(sealed.publicKeyJwk)) throw swapped()
  return sealed
}

/** Like `sealedKeys`, but without the comparison with the copy on this machine. */
export async function storedKeys(owner: Owner): Promise<SealedKeys> {
  const kept = readSealed(owner.url, owner.userId)
  const { publicKeyJwk, encryptedPrivateKey } = await owner.client.me.getKeys().catch((error) => {
    if (kept && toFailure(error).kind === 'unavailable') return kept
    throw error
  })
  if (publicKeyJwk !== null && encryptedPrivateKey === null) throw notStored(kept !== undefined)
  if (publicKeyJwk === null || encryptedPrivateKey === null) {
    if (kept) throw gone()
    throw new Failure('conflict', 'you have no keys yet', 'run `skerry keys init`')
  }
  return { publicKeyJwk, encryptedPrivateKey }
}

/**
 * Like `sealedKeys`, for a command that stores the keys again. An organization that was restored from an archive has only
 * the public keys of its people: then the copy on this machine is used.
 */
export async function keysToReseal(owner: Owner): Promise<SealedKeys> {
  const kept = readSealed(owner.url, owner.userId)
  const { publicKeyJwk, encryptedPrivateKey } = await owner.client.me.getKeys()
  if (!kept || publicKeyJwk === null || encryptedPrivateKey !== null) return sealedKeys(owner)
  if (canonical(kept.publicKeyJwk) !== canonical(publicKeyJwk)) throw swapped()
  return kept
}

interface OpenOptions {
  extractable?: boolean
}

/**
 * Opens sealed keys and checks that the public key belongs to them, because others wrap to the public key that the
 * server shows. The code of a recovery kit opens them wherever a passphrase does.
 */
export async function openSealed(
  owner: Owner,
  sealed: SealedKeys,
  passphrase: string,
  options: OpenOptions = {},
): Promise<PrivateKey> {
  const isCode = await isKitCode(passphrase)
  const opened = isCode ? await openWithKit(owner, sealed, passphrase, options) : null
  if (opened !== null) return opened
  const { publicKeyJwk, encryptedPrivateKey } = sealed
  const privateKey = await openWithPassphrase(encryptedPrivateKey, passphrase, owner.userId, options).catch((error) => {
    if (!isWrong(error)) throw error
    throw isCode ? wrongCode() : wrongPassphrase()
  })
  if (publicKeyJwkOf(privateKey) !== canonical(publicKeyJwk)) throw swapped()
  return privateKey
}

/** The check in a code tells it from a passphrase, but for one in 4,096 of the same length. */
const isKitCode = (text: string): Promise<boolean> =>
  parseKitCode(text).then(
    () => true,
    () => false,
  )

/** Returns null if there is no kit, or if the code belongs to another one. */
async function openWithKit(
  owner: Owner,
  { publicKeyJwk }: SealedKeys,
  code: string,
  options: OpenOptions,
): Promise<PrivateKey | null> {
  try {
    return await openRecoveryKit(owner.client, { userId: owner.userId, publicKeyJwk }, code, options)
  } catch (error) {
    if (isWrong(error)) return null
    throw error
  }
}

/**
 * Opens the keys with the passphrase, even if an agent has them. Somebody who finds an unlocked terminal therefore
 * cannot change them.
 */
export async function openAnew(owner: Owner, sealed: SealedKeys, question?: string): Promise<PrivateKey> {
  const asks = passphraseFromFile() === undefined && canAsk()
  if (asks) {
    await noteAskedAgain(owner)
    return askUntilOpen(owner, sealed, { extractable: true }, question)
  }
  return readPassphrase().then((passphrase) => openSealed(owner, sealed, passphrase, { extractable: true }))
}

/** The question where the person has a recovery kit, and may have forgotten the passphrase. */
export const passphraseOrCode = 'Passphrase of your keyring, or the code of your recovery kit'

/** Asks for the passphrase until it opens the keys, at most three times. */
export async function askUntilOpen(
  owner: Owner,
  sealed: SealedKeys,
  options: OpenOptions = {},
  question = 'Passphrase of your keyring',
): Promise<PrivateKey> {
  for (let left = attempts - 1; ; left--) {
    const isFirst = left === attempts - 1
    const passphrase = await askHidden(isFirst ? question : 'Passphrase, once more, or the code of your recovery kit')
    try {
      return await openSealed(owner, sealed, passphrase === '' ? ' ' : passphrase, options)
    } catch (error) {
      if (left === 0 || !(error instanceof WrongPassphrase)) throw error
      warn(error.message)
    }
  }
}

/**
 * Copies the encrypted keys to this machine. They then open while the server is unavailable, and a later swap is
 * noticed.
 */
export function keepOpened(owner: Owner, sealed: SealedKeys): void {
  try {
    keepSealed(owner.url, owner.userId, sealed)
  } catch (error) {
    note(`the sealed key could not be stored on this machine: ${(error as Error).message}`)
  }
}

class WrongPassphrase extends Failure {}

const wrongPassphrase = () =>
  new WrongPassphrase(
    'refused',
    'the passphrase does not open your keyring',
    'try again; if you forgot it, enter the code of your recovery kit instead, or see `skerry keys replace`',
  )

const wrongCode = () =>
  new WrongPassphrase(
    'refused',
    'this code does not open your keyring',
    'use the code of your newest recovery kit; `skerry keys status` shows when it was made',
  )

const isWrong = (error: unknown) => error instanceof CryptoError && error.code === 'decryption_failed'

const canonical = (publicKeyJwk: string) => formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk))

const swapped = () =>
  new Failure(
    'refused',
    'the server shows a public key for you that does not belong to your private key, so somebody else could read what others grant to you',
    'if you replaced your key pair on another machine, run `skerry keys trust`; if not, do not use this server, and tell your organization’s owner',
  )

const notStored = (isKept: boolean) =>
  new Failure(
    'refused',
    'the server has your public key, but not your sealed private key: probably it was restored from an archive',
    isKept
      ? 'run `skerry keys passphrase` here: it stores your keys again'
      : 'run `skerry keys passphrase` on a machine where you used your keys: it stores them again',
  )

const gone = () =>
  new Failure(
    'refused',
    'the server no longer has the keys that were used on this machine',
    'do not create new keys: ask the operator of the server to restore the old ones',
  )
