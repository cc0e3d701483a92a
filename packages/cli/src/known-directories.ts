import type { KnownDirectory } from '@skerry/crypto/directory/verify'
import type { Client } from '@skerry/sdk/client'
import { Failure } from './failure.ts'
import { orgMemory } from './org-memory.ts'
import type { Settings } from './settings.ts'

// A client that has seen the signed directory of an organization remembers its newest root and head, so that a server cannot
// show an older one. This module stores them with the pins that a person gave.

/** The pins and the newest verified state of one organization's directory on this machine. */
interface Known {
  /** The newest directory that this machine has verified; null before the first one. */
  known: KnownDirectory | null
  /** Hashes of roots that a person got elsewhere, as `formatPin` writes them. */
  pins: readonly string[]
}

const isText = (value: unknown) => typeof value === 'string'
const isDocument = ({ version, hash }: KnownDirectory['root']) => Number.isSafeInteger(version) && isText(hash)

const memory = orgMemory<Known>({
  file: 'known-directories.json',
  field: 'directories',
  holds: 'known directories',
  next: 'restore the file, or move it away and give the pin again with `skerry trust pin <pin>`',
  isComplete: ({ known, pins }) =>
    pins.every(isText) &&
    (known === null ||
      (isText(known.org) &&
        isDocument(known.root) &&
        isDocument(known.head) &&
        Number.isSafeInteger(known.time) &&
        known.pins.every(isText))),
})

const nothing: Known = { known: null, pins: [] }

/** The pin of `skerry.json`. It counts only for the server and the organization that the file names. */
export function projectPin({ found, url, org }: Pick<Settings, 'found' | 'url' | 'org'>): string | undefined {
  const project = found?.project
  if (project?.pin === undefined) return undefined
  const isHere = (project.url ?? url) === url && (project.org ?? org) === org
  return isHere ? project.pin : undefined
}

/** All that a command trusts: the memory of this machine, and the pin of `skerry.json`. */
export function knownDirectory(settings: Pick<Settings, 'found' | 'url' | 'org'>, orgId: string): Known {
  const { known, pins } = memory.find(settings.url, orgId) ?? nothing
  const own = projectPin(settings)
  return { known, pins: own === undefined || pins.includes(own) ? pins : [...pins, own] }
}

/** The pin for a new `skerry.json`; undefined if this machine knows no directory of the organization. */
export async function pinForProject(
  settings: Pick<Settings, 'found' | 'url' | 'org'>,
  orgId: string,
): Promise<string | undefined> {
  const { known } = knownDirectory(settings, orgId)
  if (known === null) return undefined
  const { formatPin } = await import('@skerry/crypto/directory/pin')
  return formatPin({ root: known.root.hash, leastHead: known.head.version })
}

/** Whether commands must verify the directory of this organization. It reads one small file. */
function knowsDirectory(settings: Pick<Settings, 'found' | 'url' | 'org'>, orgId: string): boolean {
  const { known, pins } = knownDirectory(settings, orgId)
  return known !== null || pins.length > 0
}

/** Whether this machine knows the directory of any organization of the server. */
export const knowsDirectories = (settings: Pick<Settings, 'found' | 'url' | 'org'>): boolean =>
  projectPin(settings) !== undefined || memory.hasServer(settings.url)

/** The part of a session that says what it trusts. */
interface Trusting {
  pinned?: unknown
  settings: Pick<Settings, 'found' | 'url' | 'org'>
}

/** Whether answers for this session must be verified: the token carries a pin, or this machine knows a directory. */
export const mustVerify = ({ pinned, settings }: Trusting): boolean =>
  pinned !== undefined || knowsDirectories(settings)

/** Answers `mustVerify` for one organization. */
export const mustVerifyIn = ({ pinned, settings }: Trusting, orgId: string): boolean =>
  pinned !== undefined || knowsDirectory(settings, orgId)

/** The signed commitments to keys that this command has verified, by the id of the environment. */
const commitments = new Map<string, { label: string; commitment: string }>()

export const noteCommitment = (envId: string, signed: { label: string; commitment: string }): void =>
  void commitments.set(envId, signed)

export const committedLabel = (envId: string): string | undefined => commitments.get(envId)?.label

/** Forgets the commitment of an environment that this command gives another key. */
export const forgetCommitment = (envId: string): void => void commitments.delete(envId)

/** Refuses a key of an environment that is not the one in the signed directory. */
export async function requireCommitted(envId: string, key: Uint8Array<ArrayBuffer>): Promise<void> {
  const signed = commitments.get(envId)
  if (signed === undefined) return
  const { environmentKeyCommitment } = await import('@skerry/crypto/directory/commitments')
  if ((await environmentKeyCommitment(envId, key)) === signed.commitment) return
  throw new Failure(
    'refused',
    `the server gave a key of ${signed.label} that is not the one in the signed directory`,
    'do not use this server, unless someone on your team replaced the key: then a signer runs `skerry trust sign`',
  )
}

/** Remembers a verified directory, unless another command has remembered a newer one in the meantime. */
export function rememberDirectory(url: string, orgId: string, newest: KnownDirectory): void {
  change(url, orgId, ({ known, pins }) => ({
    known: known && known.head.version > newest.head.version ? known : newest,
    pins,
  }))
}

/** Forgets what this machine knew of a directory, and remembers this instead. */
export const replaceDirectory = (url: string, orgId: string, known: KnownDirectory, pin: string): void =>
  change(url, orgId, () => ({ known, pins: [pin] }))

/** Remembers a pin that a person got elsewhere. The next command checks it. */
export const rememberPin = (url: string, orgId: string, pin: string): void =>
  change(url, orgId, ({ known, pins }) => ({ known, pins: pins.includes(pin) ? pins : [...pins, pin] }))

const change = (url: string, orgId: string, edit: (known: Known) => Known): void =>
  memory.change(url, orgId, (known = nothing) => edit(known))

/** Opens the client that signs what `session` changes. The program sets it, because a signer needs a session. */
type OpenSigning = (client: Client, session: object) => Promise<Client>

let openSigning: OpenSigning = async (client) => client

export const setSigning = (open: OpenSigning): void => {
  openSigning = open
}

/** Makes the client that signs what `session` changes. */
export const openSigningOf = (client: Client, session: object): Promise<Client> => openSigning(client, session)
