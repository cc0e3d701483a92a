import { parsePin } from '@skerry/crypto/directory/pin'
import type { OrgTrust } from '@skerry/sdk/internal/directory/entries'
import { type DirectoryMemory, type DirectorySettings, newerDirectory } from '@skerry/sdk/internal/directory/memory'
import { recall, remember } from '../id-cache.ts'
import { knownDirectory, projectPin, rememberDirectory } from '../known-directories.ts'
import { isStrict } from '../known-state.ts'
import { warn } from '../output.ts'
import type { Session } from '../session.ts'

/**
 * What the SDK needs to verify the answers about an environment.
 *
 * @param name `app/env` or `app/env@branch`; undefined if the token alone determines the environment.
 */
export async function directorySettings(session: Session, name: string | undefined): Promise<DirectorySettings> {
  const org = name === undefined ? recall(orgKey(session)) : (await session.org()).id
  return { pins: pinsOf(session, org), memory: memoryOf(session), org, name, strict: isStrict(), warn }
}

/** The trust of this session in the directory of an organization, for questions about single entries. */
export const trustOf = (session: Session, orgId: string, purpose: OrgTrust['purpose']): OrgTrust => ({
  pins: pinsOf(session, orgId).map(parsePin),
  memory: memoryOf(session),
  purpose,
})

function pinsOf({ settings, pinned }: Session, orgId: string | undefined): string[] {
  const own = projectPin(settings)
  const here = orgId === undefined ? (own === undefined ? [] : [own]) : knownDirectory(settings, orgId).pins
  return [...new Set([...(pinned ? [pinned.pin] : []), ...here])]
}

/** A bound token resolves without a question about its organization, which this machine therefore remembers. */
const orgKey = ({ settings, principal }: Session) => `directory ${settings.url} ${principal.id}`

/** The memory of this machine. Where nothing can be stored, such as in a container, the process remembers. */
function memoryOf(session: Session): DirectoryMemory {
  const { settings } = session
  const kept = new Map<string, Parameters<DirectoryMemory['write']>[1]>()
  const read = (orgId: string) => kept.get(orgId) ?? knownDirectory(settings, orgId).known
  return {
    read: async (orgId) => read(orgId),
    async write(orgId, known) {
      const before = read(orgId)
      const newest = newerDirectory(known, before)
      kept.set(orgId, newest)
      remember(orgKey(session), orgId)
      if (JSON.stringify(newest) === JSON.stringify(before)) return
      try {
        rememberDirectory(settings.url, orgId, newest)
      } catch (error) {
        tellOnce(`this machine cannot remember the signed directory: ${(error as Error).message}`)
      }
    },
  }
}

const told = new Set<string>()

function tellOnce(message: string): void {
  if (told.has(message)) return
  told.add(message)
  warn(message)
}
