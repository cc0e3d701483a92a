import type { Client } from '@skerry/sdk/client'
import { type Signatory, signingClient } from '@skerry/sdk/internal/directory/client'
import {
  isShownAsSigner,
  openDirectory,
  openDocuments,
  type SignedDirectory,
} from '@skerry/sdk/internal/directory/open'
import { entryNames, entryWords, signedParts, signersLine } from '@skerry/sdk/internal/directory/words'
import { noteListed } from '../envs/listed-pins.ts'
import { comparedPin } from '../envs/pins.ts'
import { KeyringError, keyring } from '../keyring.ts'
import { session } from '../session.ts'
import { showErrorToast, showToast } from '../ui/toast.ts'
import { askForPin } from './ask.ts'
import { knownDirectory, rememberDirectory } from './known.ts'

// The signer behind the API of the page. Every change of an entry is signed in its own request. The keys stay in the
// keyring's worker: this module makes documents, and the worker signs them.

/** The client that signs the changes of the signed-in person. `client` is the one that only sends. */
export function signingClientOf(client: Client): Client {
  const found = new Map<string, Promise<Signatory | null>>()
  // Another person may sign in without a new page. They sign with their own key, or not at all.
  session.onEnd(() => found.clear())
  return signingClient(client, async (orgId) => {
    const signatory = await found.get(orgId)
    if (signatory) return signatory
    const opening = readably(() => findSignatory(client, orgId))
    found.set(orgId, opening)
    // A failure, or a person who signs later, is looked up again with the next change.
    opening.then(
      (opened) => opened ?? found.delete(orgId),
      () => found.delete(orgId),
    )
    return opening
  })
}

async function findSignatory(client: Client, orgId: string): Promise<Signatory | null> {
  const { principal } = await client.me.get({})
  if (knownDirectory(orgId) === null) {
    const isPinned = (await isShownAsSigner(client, orgId, principal.id)) && (await askForPin(orgId))
    if (!isPinned) return unsigned('You do not sign the directory of this organization.')
  }
  const { root } = await opened(orgId, openDocuments(client, orgId, startOf(orgId)))
  if (!root.body.signers.some((one) => 'person' in one && one.person === principal.id))
    return unsigned('You do not sign the directory of this organization.')
  const { signer, ownKid } = await keyring.call('directorySigner', {})
  if (!root.body.signers.some((one) => 'person' in one && one.person === principal.id && one.kid === signer.kid))
    return unsigned('The directory names an earlier signing key of yours.')
  const directory = await opened(orgId, openDirectory(client, orgId, startOf(orgId)))
  const signing = { ...signer, sign: (document: Uint8Array<ArrayBuffer>) => keyring.call('signDocument', { document }) }
  return {
    client,
    orgId,
    directory,
    signer: signing,
    context: {
      client,
      orgId,
      signer: signing,
      own: `person/${principal.id}`,
      ownKid,
      commitments: {
        environment: (id, blob) => keyring.call('environmentCommitment', { id, blob }),
        managed: (id, version, blob) => keyring.call('managedCommitment', { id, version, blob }),
      },
      vouch: (key, { kid, email, name }) => {
        const known = comparedPin(key.slice(key.indexOf('/') + 1))
        // A signer has ended the entry of a key that was listed before.
        if (known?.fingerprint !== kid || known.wasListed) return false
        return (email === undefined || email === known.email) && (name === undefined || name === known.name)
      },
    },
    remember: ({ known }) => rememberDirectory(orgId, known),
    onSigned: ({ before, step, draft }) => {
      const signed = step.trust.entries.filter(({ text }) => text !== null).map(({ key }) => key)
      noteListed(signed.map((key) => key.slice(key.indexOf('/') + 1)))
      const nameOf = entryNames({ entries: new Map([...before.entries, ...step.next.entries]) })
      const lines = step.trust.entries.map(({ key }) => {
        const [old, next] = [before.entries.get(key), step.next.entries.get(key)]
        return `${entryWords(key, nameOf)}: ${signedParts(old, next, draft.readerChanges.get(key), nameOf).join(', ')}`
      })
      if (step.trust.root !== undefined) lines.unshift(signersLine('the list of signers', before, step.next, nameOf))
      showToast(`Signed ${shortList(lines)}`)
    },
    onUnsigned: (keys) =>
      void unsigned(`Not signed: ${shortList(keys.map((key) => entryWords(key, entryNames(directory))))}.`),
  }
}

const startOf = (orgId: string) => ({ known: knownDirectory(orgId), pins: [] })

/** Remembers a verified directory. A server that shows none any more is not believed. */
async function opened<T extends Omit<SignedDirectory, 'entries'>>(
  orgId: string,
  opening: Promise<T | null>,
): Promise<T> {
  const directory = await opening
  if (directory === null)
    throw new KeyringError(
      'directory_rolled_back',
      'The server shows no signed directory, but this browser knows that the organization has one. Do not use this server, and tell your organization’s owner',
    )
  rememberDirectory(orgId, directory.known)
  return directory
}

function unsigned(why: string): null {
  showErrorToast('This change is not signed', `${why} A signer reads and signs it with skerry trust sign.`)
  return null
}

const shownMax = 3

const shortList = (all: readonly string[]): string =>
  all.length <= shownMax ? all.join('; ') : `${all.slice(0, shownMax).join('; ')}; and ${all.length - shownMax} more`

/** A refusal of the directory, as the pages show errors of the keyring. Other errors stay as they are. */
export async function readably<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string }
    if (typeof code !== 'string' || !/^(?:directory_|malformed_pin)/.test(code)) throw error
    throw new KeyringError(code, message)
  }
}
