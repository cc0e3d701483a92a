import type { Signed } from '@skerry/contract/directory/schemas'
import { limits } from '@skerry/contract/limits'
import { signDocument } from '@skerry/crypto/directory/document'
import { type DirectoryEntry, formatEntry } from '@skerry/crypto/directory/entries'
import { nextHead, parseHead } from '@skerry/crypto/directory/head'
import { DirectoryError } from '@skerry/crypto/directory/refusal'
import { newRoot, nextRoot, openRoot, parseRoot, type RootBody, type RootDraft } from '@skerry/crypto/directory/root'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { directoryTree } from '@skerry/crypto/directory/tree'
import type { Static } from 'typebox'
import type { Client } from '../client.ts'
import { RefusedError } from '../errors.ts'
import { chunks, openDirectory, type SignedDirectory } from './open.ts'

/** The documents that a signer's client adds to a change. */
export type Trust = Static<typeof Signed>

/** A change of the directory. */
export interface DirectoryEdit {
  /** The new members of entries, by key; null ends an entry. Entries that stay as they are may be named. */
  entries: ReadonlyMap<string, DirectoryEntry['value'] | null>
  /** The new root, signed by everyone who must agree: see `nextRoot`. */
  root?: string | undefined
}

/** The documents for a change, and the directory after it. */
export interface SignedStep {
  trust: Trust
  next: SignedDirectory
}

const attempts = 5
const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/**
 * Signs an edit: makes the next head over all entries as they are after it. Sends nothing.
 *
 * @returns null if the edit changes nothing.
 * @throws CryptoError `directory_malformed` for a malformed entry; `directory_unsigned` for a root that lacks signatures.
 * @example
 * const ended = await signEdit(signedDirectory, { entries: new Map([['environment/shop/old', null]]) }, directorySigner)
 */
export async function signEdit(
  directory: SignedDirectory,
  edit: DirectoryEdit,
  signer: DirectorySigner,
  now: number = nowSeconds(),
): Promise<SignedStep | null> {
  const changed = changedEntries(directory.entries, edit)
  if (changed.length === 0 && edit.root === undefined) return null
  return signHead(directory, { changed, root: edit.root }, signer, now)
}

/**
 * Signs a new head over the same entries. Heads expire, so that a client notices when the server hides newer ones.
 *
 * @example const { trust } = await renewHead(signedDirectory, directorySigner)
 */
export const renewHead = (
  directory: SignedDirectory,
  signer: DirectorySigner,
  now: number = nowSeconds(),
): Promise<SignedStep> => signHead(directory, { changed: [], root: undefined }, signer, now)

interface Changed {
  key: string
  entry: DirectoryEntry | null
  text: string | null
}

/** The entries that an edit really changes, sorted by key. */
function changedEntries(entries: ReadonlyMap<string, DirectoryEntry>, edit: DirectoryEdit): Changed[] {
  return [...edit.entries]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([key, value]): Changed[] => {
      const before = entries.get(key)
      if (value === null) return before ? [{ key, entry: null, text: null }] : []
      const entry = { key, value } as DirectoryEntry
      const text = formatEntry(entry)
      return before && formatEntry(before) === text ? [] : [{ key, entry, text }]
    })
}

async function signHead(
  { root: rootBefore, head: before, ...directory }: SignedDirectory,
  { changed, root: rootText }: { changed: readonly Changed[]; root: string | undefined },
  signer: DirectorySigner,
  now: number,
): Promise<SignedStep> {
  const root = rootText === undefined ? rootBefore : await openRoot(rootText)
  const entries = new Map(directory.entries)
  for (const { key, entry } of changed) {
    if (entry === null) entries.delete(key)
    else entries.set(key, entry)
  }
  const tree = await directoryTree([...entries.values()])
  const head = await signDocument('od1', nextHead(before, root, tree, now), [signer])
  const document = await parseHead(head)
  return {
    trust: {
      ...(rootText === undefined ? {} : { root: rootText }),
      head,
      entries: changed.map(({ key, text }) => ({ key, text })),
    },
    next: {
      org: directory.org,
      root,
      head: document,
      entries,
      known: {
        ...directory.known,
        root: { version: root.body.version, hash: root.hash },
        head: { version: document.body.version, hash: document.hash },
        time: document.body.issuedAt,
      },
    },
  }
}

/**
 * Makes the first root and the heads over the first entries. The server takes a limited number of entries with each head, so
 * a large organization starts with several heads. Sends nothing.
 *
 * @throws CryptoError `directory_malformed`, `directory_unsigned` unless enough of the draft's signers are in `signers`.
 * @example
 * const steps = await firstSteps(orgId, rootDraft, [], [directorySigner])
 * for (const { trust } of steps) await client.directory.put({ params: { orgId }, body: trust })
 */
export async function firstSteps(
  orgId: string,
  draft: RootDraft,
  entries: readonly DirectoryEntry[],
  signers: readonly DirectorySigner[],
  now: number = nowSeconds(),
): Promise<SignedStep[]> {
  const rootText = await signDocument('or1', newRoot(orgId, draft, now), signers)
  const root = await openRoot(rootText)
  const sorted = entries.toSorted((one, other) => (one.key < other.key ? -1 : 1))
  const parts = chunks(sorted, limits.directoryEntriesAtOnceMax)
  const steps: SignedStep[] = []
  let before: SignedDirectory | null = null
  for (const part of parts.length === 0 ? [[]] : parts) {
    const step: SignedStep = before
      ? await signHead(before, { changed: part.map(added), root: undefined }, signers[0]!, now)
      : await firstStep(orgId, { root, rootText }, part, signers[0]!, now)
    steps.push(step)
    before = step.next
  }
  return steps
}

const added = (entry: DirectoryEntry): Changed => ({ key: entry.key, entry, text: formatEntry(entry) })

async function firstStep(
  org: string,
  { root, rootText }: { root: SignedDirectory['root']; rootText: string },
  part: readonly DirectoryEntry[],
  signer: DirectorySigner,
  now: number,
): Promise<SignedStep> {
  const tree = await directoryTree(part)
  const text = await signDocument('od1', nextHead(null, root, tree, now), [signer])
  const head = await parseHead(text)
  const known = {
    org,
    root: { version: 1, hash: root.hash },
    head: { version: 1, hash: head.hash },
    time: head.body.issuedAt,
    pins: [root.hash],
  }
  return {
    trust: {
      root: rootText,
      head: text,
      entries: part.map(({ key, value }) => ({ key, text: formatEntry({ key, value } as DirectoryEntry) })),
    },
    next: { org, root, head, known, entries: new Map(part.map((entry) => [entry.key, entry])) },
  }
}

/**
 * Makes the root after the newest one and signs it. It may still lack signatures of other signers: `addSignature` adds them.
 *
 * @example const rootText = await signRoot(signedDirectory, { threshold: 1 }, [directorySigner])
 */
export async function signRoot(
  { root }: Pick<SignedDirectory, 'root'>,
  change: Partial<RootDraft>,
  signers: readonly DirectorySigner[],
  now: number = nowSeconds(),
): Promise<string> {
  const body = nextRoot(root, { ...draftOf(root.body), ...change }, now)
  const text = await signDocument('or1', body, signers)
  await parseRoot(text)
  return text
}

const draftOf = ({ threshold, signers, rescue, recovery, minimum }: RootBody): RootDraft => ({
  threshold,
  signers,
  rescue,
  recovery,
  minimum,
})

/** A signer's client in one organization. */
export interface SigningClient {
  client: Client
  orgId: string
  /** The directory as the client has verified it last. */
  directory: SignedDirectory
  signer: DirectorySigner
  /** Is called with each directory that was verified or stored: remember its `known`. */
  remember: (directory: SignedDirectory) => void | Promise<void>
  /** Is called if somebody else signed in the meantime, before the edit is applied again. */
  onOthers?: (before: SignedDirectory, now: SignedDirectory) => void
}

/** Makes the edit for the directory as it is now; null for a change that needs none. It may be called several times. */
export type MakeEdit = (directory: SignedDirectory) => DirectoryEdit | null | Promise<DirectoryEdit | null>

/**
 * Sends a change together with the documents that sign it. The server stores both or neither. If somebody else has signed in
 * the meantime, it fetches and verifies the newest directory, makes the edit again and repeats the change, a few times.
 *
 * @param send gets the documents, or undefined if the change needs none.
 * @returns the answer of `send`, and the directory after it.
 * @throws the errors of `send`, of `edit` and of `openDirectory`.
 * @example
 * const signing = { client, orgId, directory: signedDirectory, signer: directorySigner, remember: () => {} }
 * const edit = () => ({ entries: new Map([['environment/shop/old', null]]) })
 * await signedChange(signing, edit, (trust) => client.envs.delete({ params: { orgId, envId }, body: { ...(trust ? { trust } : {}) } }))
 */
export async function signedChange<T>(
  signing: SigningClient,
  edit: MakeEdit,
  send: (trust: Trust | undefined, step: SignedStep | null) => Promise<T>,
): Promise<{ answer: T; directory: SignedDirectory }> {
  let { directory } = signing
  for (let left = attempts; ; left--) {
    const wanted = await edit(directory)
    const step = wanted === null ? null : await signEdit(directory, wanted, signing.signer)
    try {
      const answer = await send(step?.trust, step)
      if (step) await signing.remember(step.next)
      return { answer, directory: step?.next ?? directory }
    } catch (error) {
      const newer = step && left > 1 ? await newerDirectory(signing, directory, error) : null
      if (newer === null) throw error
      signing.onOthers?.(directory, newer)
      directory = newer
    }
  }
}

/** After a conflict, fetches and verifies the directory. Returns null if it has no newer head, so that the conflict has another cause. */
async function newerDirectory(
  { client, orgId, remember }: SigningClient,
  before: SignedDirectory,
  error: unknown,
): Promise<SignedDirectory | null> {
  if (!(error instanceof RefusedError) || error.code !== 'conflict') return null
  const newer = await openDirectory(client, orgId, { pins: [], known: before.known })
  if (newer === null)
    throw new DirectoryError('directory_rolled_back', {
      expected: `head ${before.head.body.version} or later`,
      came: 'no directory',
    })
  if (newer.head.hash === before.head.hash) return null
  await remember(newer)
  return newer
}
