import type { NameOf } from '@skerry/contract/audit/sentence'
import { openDirectory } from '../directory.ts'
import { toFailure } from '../failure.ts'
import type { Session } from '../session.ts'
import type { Happening, Wanted } from './happening.ts'
import { readLog } from './log.ts'
import type { Scope } from './scope.ts'
import { readSecretChanges } from './secret-changes.ts'

/** Reads the activity from the audit log. A caller who may not read the log gets the versions of the secrets instead. */
export async function readActivity(session: Session, scope: Scope, wanted: Wanted) {
  try {
    return { ...(await readLog(session, scope, wanted)), source: 'audit' as const }
  } catch (error) {
    if (toFailure(error).kind !== 'refused') throw error
    const happenings = await readSecretChanges(session, scope, wanted)
    return { happenings, names: new Map<string, string>(), searchedUntil: null, source: 'secrets' as const }
  }
}

/** Prefixes of ids whose names come from the directory. The audit log supplies the names of all other objects. */
const looked = ['usr_', 'skt_', 'm2m_', 'grp_']

export async function namesFor(
  session: Session,
  happenings: readonly Happening[],
  known: ReadonlyMap<string, string>,
): Promise<NameOf> {
  const ids = happenings.flatMap(({ actorId, resourceId, metadata }) => [
    actorId,
    resourceId,
    ...Object.values(metadata),
  ])
  const wanted = ids.filter((id) => typeof id === 'string').filter((id) => looked.includes(id.slice(0, 4)))
  const directory = await openDirectory(session, [...new Set(wanted)])
  return (id) => directory(id) ?? known.get(id)
}
