import { canonicalJson } from '@skerry/crypto/canonical-json'
import { addSignature } from '@skerry/crypto/directory/document'
import { DirectoryError } from '@skerry/crypto/directory/refusal'
import {
  openRoot,
  parseRoot,
  type RootBody,
  type RootDraft,
  type RootSigner,
  requireNextRoot,
} from '@skerry/crypto/directory/root'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { thumbprintWords } from '@skerry/crypto/fingerprint-words'
import type { SignedDirectory } from '@skerry/sdk/internal/directory/open'
import { signEdit, signRoot } from '@skerry/sdk/internal/directory/signing'
import { type EntryNames, entryNames } from '@skerry/sdk/internal/directory/words'
import { Failure } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { readTextFile } from '../input.ts'
import { rememberDirectory } from '../known-directories.ts'
import { note, type Output, writeLine } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable } from '../settings.ts'
import { acceptRecovery } from './accept-recovery.ts'
import { ownSigner } from './init.ts'
import { type OldHeadFlags, openToSign } from './old-head.ts'
import { requirePolicyKey, signerEntry } from './policy-keys.ts'
import { showNamedRecovery } from './recovery-key.ts'
import { signersOf } from './status.ts'

/**
 * Signs the next root and sends it. If it needs signatures of other people, it prints the root instead, for them to sign
 * with `skerry trust approve`.
 */
export async function changeRoot(
  session: Session,
  directory: SignedDirectory,
  change: Partial<RootDraft>,
  signers: readonly DirectorySigner[],
): Promise<Output> {
  return sendOrPrint(session, directory, await signRoot(directory, change, signers))
}

async function sendOrPrint(session: Session, directory: SignedDirectory, text: string): Promise<Output> {
  const { version } = (await parseRoot(text)).body
  const lacks = await lackOf(directory, text)
  if (lacks !== null) {
    return {
      json: { root: version, stored: false, document: text },
      text: () => writeLine(text),
      after: () => {
        note(`root ${version} needs more signatures: ${lacks}`)
        note('nothing was changed. Give this text to the others, who run `skerry trust approve <file>` with it')
      },
    }
  }
  const step = await signEdit(directory, { entries: new Map(), root: text }, await ownSigner(session))
  const next = await send(session, step!)
  const names = signersOf(next.root.body, entryNames(next)).map(({ name }) => name)
  note(`root ${version} is stored; signers: ${[...new Set(names)].join(', ')} (head ${next.head.body.version})`)
  return { json: { root: version, stored: true, pin: next.root.hash, head: next.head.body.version } }
}

type Step = NonNullable<Awaited<ReturnType<typeof signEdit>>>

export async function send({ client, settings }: Session, { trust, next }: Step): Promise<SignedDirectory> {
  await client.directory.put({ params: { orgId: next.org }, body: trust })
  rememberDirectory(settings.url, next.org, next.known)
  return next
}

/** Says which signatures a root lacks; null if it has enough. */
async function lackOf(directory: SignedDirectory, text: string): Promise<string | null> {
  const nameOf = entryNames(directory)
  try {
    await requireNextRoot(directory.root, await openRoot(text))
    return null
  } catch (error) {
    if (!(error instanceof DirectoryError) || error.code !== 'directory_unsigned') throw error
    const names = error.signers.map((id) => nameOf(id.startsWith('usr_') ? `person/${id}` : `token/${id}`))
    return `expected ${error.expected}, has ${error.came}; can sign: ${names.join(', ')}`
  }
}

/** Adds the caller's signature to a root that somebody else has made, and sends it once it has enough. */
export async function approve(
  file: string,
  { session, flags, orgId, input: text }: InOrg<Confirmable & OldHeadFlags, typeof readDocument>,
): Promise<Output> {
  void file
  const signer = await ownSigner(session)
  const directory = await openToSign(session, orgId, flags)
  const root = await parseRoot(text)
  if (root.body.prev !== directory.root.hash)
    throw new Failure(
      'conflict',
      'this root does not follow the newest one',
      'ask for a new one, made from `skerry trust status`',
    )
  const changed = changedSigners(directory.root.body, root.body)
  for (const line of rootChanges(directory.root.body, root.body, entryNames(directory))) note(line)
  for (const one of changed) {
    requirePolicyKey(directory, one)
    note(`words of the signing key of ${entryNames(directory)(signerEntry(one))}: ${thumbprintWords(one.kid)}`)
  }
  const [signed, named] = [directory.root.body.recovery, root.body.recovery]
  const recoveryKey = signed === named ? null : await showNamedRecovery(session, orgId, { signed, named })
  const keep = await acceptRecovery(session, recoveryKey)
  await confirmOrRefuse(`signs root ${root.body.version}`, flags)
  const sent = await sendOrPrint(session, directory, await addSignature('or1', text, signer))
  await keep?.()
  return sent
}

export const readDocument = (_flags: Confirmable, file: string): string => readTextFile(file).trim()

/** The signers whom the root before does not name in the same way. */
const changedSigners = (before: RootBody, after: RootBody): RootSigner[] => {
  const known = new Set(before.signers.map((one) => canonicalJson(one)))
  return after.signers.filter((one) => !known.has(canonicalJson(one)))
}

/** The differences between two roots, as lines. */
function rootChanges(before: RootBody, after: RootBody, nameOf: EntryNames): string[] {
  const label = ({ name, kid }: { name: string; kid: string }) => `${name} (key ${kid})`
  const [old, now] = [signersOf(before, nameOf), signersOf(after, nameOf)]
  const isIn = (list: typeof old) => (one: (typeof old)[number]) =>
    list.some(({ kid, id }) => kid === one.kid && id === one.id)
  const rescue = ({ rescue: codes }: RootBody) => (codes ? `${codes.threshold} of ${codes.keys.length}` : 'none')
  return [
    ...now.filter((one) => !isIn(old)(one)).map((one) => `signer added: ${label(one)}`),
    ...old.filter((one) => !isIn(now)(one)).map((one) => `signer removed: ${label(one)}`),
    ...policyKeyChanges(before, after, nameOf),
    ...(before.threshold === after.threshold
      ? []
      : [`signatures needed: ${after.threshold} (before: ${before.threshold})`]),
    ...(JSON.stringify(before.rescue) === JSON.stringify(after.rescue)
      ? []
      : [`rescue codes: ${rescue(after)} (before: ${rescue(before)})`]),
    ...(before.minimum.token === after.minimum.token ? [] : [`weakest token: ${after.minimum.token}`]),
  ]
}

/** Signers who stay, and whose agent policies count under another key afterwards. */
function policyKeyChanges(before: RootBody, after: RootBody, nameOf: EntryNames): string[] {
  const names = signersOf(after, nameOf)
  return after.signers.flatMap(({ kid, policyKid }, at) => {
    const old = before.signers.find((one) => one.kid === kid)
    if (old === undefined || old.policyKid === policyKid) return []
    return [`key of ${names[at]!.name} for agent policies: ${policyKid ?? 'none'} (before: ${old.policyKid ?? 'none'})`]
  })
}
