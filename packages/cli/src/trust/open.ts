import { parsePin } from '@skerry/crypto/directory/pin'
import type { RootDocument } from '@skerry/crypto/directory/root'
import { openDirectory, openDocuments, type SignedDirectory } from '@skerry/sdk/internal/directory/open'
import { Failure } from '../failure.ts'
import { knownDirectory, rememberDirectory } from '../known-directories.ts'
import type { Session } from '../session.ts'

/** The pin of the token, and the pins and the memory of this machine. */
function startOf({ settings, pinned }: Session, orgId: string) {
  const { known, pins } = knownDirectory(settings, orgId)
  const all = [...(pinned ? [pinned.pin] : []), ...pins]
  return { known, pins: all.map(parsePin) }
}

/**
 * Fetches and verifies the whole directory, from what this machine knows, and remembers it.
 *
 * @throws Failure if the organization has a directory and this machine has no pin of it.
 */
export async function openKnown(
  session: Session,
  orgId: string,
  { acceptOld = false }: { acceptOld?: boolean } = {},
): Promise<SignedDirectory> {
  return open(session, orgId, acceptOld, openDirectory)
}

/** Does the same as `openKnown`, without entries: every member may read roots and heads, and only admins all entries. */
export const openKnownDocuments = (
  session: Session,
  orgId: string,
  { acceptOld = false }: { acceptOld?: boolean } = {},
): Promise<Documents> => open(session, orgId, acceptOld, openDocuments)

export type Documents = Omit<SignedDirectory, 'entries'>

async function open<T extends Documents>(
  session: Session,
  orgId: string,
  acceptOld: boolean,
  fetch: (...given: Parameters<typeof openDocuments>) => Promise<T | null>,
): Promise<T> {
  const start = startOf(session, orgId)
  if (start.known === null && start.pins.length === 0) throw await unknown(session, orgId)
  const directory = await fetch(session.client, orgId, { ...start, acceptOld })
  if (directory === null) throw missing()
  rememberDirectory(session.settings.url, orgId, directory.known)
  return directory
}

/** Whether the caller signs the directory, so that comparing the words of a new key may make its entry. */
export const isSigner = async (session: Session, orgId: string): Promise<boolean> =>
  isNamedSigner(session, (await openKnownDocuments(session, orgId)).root)

/** Whether the root names the caller. It is answered before a passphrase is asked for. */
export function isNamedSigner({ principal }: Session, root: RootDocument): boolean {
  return root.body.signers.some((one) => ('person' in one ? one.person : one.token) === principal.id)
}

async function unknown({ client }: Session, orgId: string): Promise<Failure> {
  const { directory } = await client.directory.get({ params: { orgId } })
  if (directory === null)
    return new Failure('notFound', 'this organization has no signed directory', 'start it with `skerry trust init`')
  return new Failure(
    'refused',
    'this machine has no pin of the organization’s signed directory',
    'ask a colleague for the output of `skerry trust pin`, and run `skerry trust pin <pin>`',
  )
}

/** A server that shows no directory any more is not believed. */
const missing = (): Failure =>
  new Failure(
    'refused',
    'the server shows no signed directory, but this machine knows that the organization has one',
    'do not use this server, and tell your organization’s owner',
  )
