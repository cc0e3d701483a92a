import { openDocuments } from '@skerry/sdk/internal/directory/open'
import { api } from '../api.ts'
import { KeyringError, keyring } from '../keyring.ts'
import { knownDirectory, rememberDirectory } from './known.ts'
import { readably } from './signatory.ts'

/** The newest root and head that this browser has verified now. */
interface Verified {
  root: number
  head: number
}

/** Verifies the directory from a pin and from what this browser knew before, and remembers it. */
export const trustPin = (orgId: string, text: string): Promise<Verified> =>
  verifyFrom(orgId, text, (known) => rememberDirectory(orgId, known), knownDirectory(orgId))

/**
 * Forgets the newer directory that this browser saw, and starts from the pin. The directory is verified first, so that a wrong
 * pin forgets nothing.
 */
export const startAgain = (orgId: string, text: string): Promise<Verified> =>
  verifyFrom(orgId, text, (known) => rememberDirectory(orgId, known, true), null)

type Known = NonNullable<ReturnType<typeof knownDirectory>>

async function verifyFrom(
  orgId: string,
  text: string,
  remember: (known: Known) => void,
  known: Known | null,
): Promise<Verified> {
  const pin = await keyring.callLocked('parsePin', { text: text.trim() })
  const documents = await readably(() => openDocuments(api, orgId, { known, pins: [pin], acceptOld: true }))
  if (documents === null) throw new KeyringError('directory_missing', 'The server shows no signed directory')
  remember(documents.known)
  return { root: documents.root.body.version, head: documents.head.body.version }
}
