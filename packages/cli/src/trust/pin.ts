import { formatPin, parsePin } from '@skerry/crypto/directory/pin'
import type { KnownDirectory } from '@skerry/crypto/directory/verify'
import { openDocuments } from '@skerry/sdk/internal/directory/open'
import { Failure, usage } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { knownDirectory, projectPin, rememberDirectory, rememberPin, replaceDirectory } from '../known-directories.ts'
import { note, type Output, writeLine } from '../output.ts'
import { projectFileName, writeProject } from '../project.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { openKnownDocuments } from './open.ts'

interface PinFlags extends Flags {
  yes?: boolean
  write?: boolean
  restored?: boolean
}

/** Prints the pin of the newest root, or remembers a pin that a person got from a colleague. */
export async function pin(
  given: string | undefined,
  { session, flags, orgId }: InOrg<PinFlags, typeof parseGiven>,
): Promise<Output> {
  if (given !== undefined && flags.restored) await startAgain(session, orgId, given)
  else if (flags.restored) await startFromKnown(session, orgId, flags)
  else if (given !== undefined) await trustPin(session, orgId, given)
  const { root, head } = await openKnownDocuments(session, orgId, { acceptOld: true })
  const text = given ?? formatPin({ root: root.hash, leastHead: head.body.version })
  return {
    json: { pin: text, root: root.body.version, head: head.body.version },
    text: () => (given === undefined ? writeLine(text) : note('this machine trusts the directory of this pin now')),
    after: () => {
      if (flags.write && !writePin(session, text))
        throw new Failure(
          'notFound',
          `there is no ${projectFileName} here`,
          'make one with `skerry init` or `skerry setup`',
        )
    },
  }
}

/** Refuses a mistyped pin before a request is sent. */
export function parseGiven(_: PinFlags, given: string | undefined): void {
  if (given === undefined) return
  try {
    parsePin(given)
  } catch {
    throw usage('this is not a pin', 'copy all 43 characters, and the @ with a number if there is one')
  }
}

/** Verifies the directory from the pin, and only then remembers it. */
async function trustPin(session: Session, orgId: string, text: string): Promise<void> {
  const { known, pins } = knownDirectory(session.settings, orgId)
  const start = { known, pins: [...pins, text].map(parsePin), acceptOld: true }
  const documents = await openDocuments(session.client, orgId, start)
  if (documents === null) throw new Failure('notFound', 'this organization has no signed directory')
  rememberPin(session.settings.url, orgId, text)
  rememberDirectory(session.settings.url, orgId, documents.known)
}

/**
 * Starts again from the root that this machine has verified, for a person who has no colleague with a pin. The root proves
 * that the directory is the right one. It cannot prove that no newer head exists, so a person compares its number.
 */
async function startFromKnown(session: Session, orgId: string, flags: PinFlags): Promise<void> {
  const { known } = knownDirectory(session.settings, orgId)
  if (known === null)
    throw usage('this machine knows no signed directory of this organization', 'give the pin that a colleague has')
  const start = { known: null, pins: [{ root: known.root.hash, leastHead: 1 }], acceptOld: true }
  const documents = await openDocuments(session.client, orgId, start)
  if (documents === null) throw new Failure('notFound', 'the restored server has no signed directory')
  const head = documents.known.head.version
  await confirmOrRefuse(
    `starts again from head ${head} of the server. This machine saw head ${known.head.version}. Continue only if the operator restored a backup from that time`,
    flags,
  )
  replaceBy(session, orgId, documents.known, formatPin({ root: known.root.hash, leastHead: head }))
}

/**
 * Forgets the newer directory that this machine saw, and starts from the pin: a person says that an older backup of the
 * server was restored.
 */
async function startAgain(session: Session, orgId: string, text: string): Promise<void> {
  const start = { known: null, pins: [parsePin(text)], acceptOld: true }
  const documents = await openDocuments(session.client, orgId, start)
  if (documents === null) throw new Failure('notFound', 'the restored server has no signed directory')
  replaceBy(session, orgId, documents.known, text)
}

/** The pin of `skerry.json` may name a newer head, so it is replaced, too. */
function replaceBy(session: Session, orgId: string, known: KnownDirectory, text: string): void {
  replaceDirectory(session.settings.url, orgId, known, text)
  if (projectPin(session.settings) !== undefined) writePin(session, text)
}

/** Writes the pin into the project's file, if there is one for this organization. */
export function writePin({ settings: { found, org, url } }: Session, text: string): boolean {
  if (!found) return false
  const { file, project } = found
  if ((project.url ?? url) !== url || (project.org ?? org) !== org) return false
  writeProject(file, { ...project, pin: text })
  note(`wrote the pin into ${file}; commit this file, and review changes of the pin like code`)
  return true
}
