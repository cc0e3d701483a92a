import type { DeletedSecret } from '@skerry/sdk/secrets'
import { openDirectory } from '../directory.ts'
import { toFailure } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { placeOptions } from '../labels.ts'
import { note, type Output, warn, writeTable } from '../output.ts'
import { everyRow } from '../pages.ts'
import type { Place } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import { shownTime } from '../times.ts'
import type { Queueing } from './queued.ts'

// A deleted secret is kept, so that `skerry secrets restore` can bring it back.

/** The time for which every command keeps a deleted secret. */
const keepFor = '30d'
export const keptTime = '30 days'

/** Deletes in a way that keeps the secrets, as far as the server can. */
export interface Keeper {
  /** @param run makes the deletion with these options of a request. */
  delete<T>(run: (options: { keepFor?: string }) => Promise<T>): Promise<T>
  /** False once the server has refused to keep a secret, because it is older. Its deletions are final. */
  canKeep(): boolean
}

/** The keeper of one command. On an older server, it asks once before the deletions, or warns if the user gave `--yes`. */
export function newKeeper(flags: Queueing & { yes?: boolean }): Keeper {
  let keeps = true
  return {
    async delete(run) {
      if (!keeps) return run({})
      try {
        return await run({ keepFor })
      } catch (error) {
        if (!isUnknownOption(error)) throw error
        if (flags.yes) warn('this server is older and keeps no deleted secrets, so the deletion is final')
        await confirmOrRefuse('deletes for good, because this server is older and keeps no deleted secrets', flags)
        keeps = false
        return run({})
      }
    },
    canKeep: () => keeps,
  }
}

/** Whether a server refused the option because it does not know it. Every release uses these words. */
function isUnknownOption(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return code === 'invalid_request' && String(message).endsWith('unknown field "keepFor"')
}

/** Lists all deleted secrets that the environment keeps, the latest deletion first. */
export async function listDeleted(session: Session, { orgId, envId }: Place): Promise<DeletedSecret[]> {
  return everyRow(
    (at) => session.client.deletedSecrets.list({ params: { orgId, envId }, query: { limit: 200, ...at } }),
    ({ deletedSecrets }) => deletedSecrets,
  )
}

/** Like `listDeleted`, but returns nothing if the credential may not list, or if the server is older. */
export const listDeletedIfAllowed = (session: Session, place: Place): Promise<DeletedSecret[]> =>
  listDeleted(session, place).catch((error) => {
    if (toFailure(error).kind === 'refused' || (error as { code?: unknown }).code === 'old_server') return []
    throw error
  })

/** Lists the deleted secrets of an environment. */
export async function deleted({ session, place }: AtPlace): Promise<Output> {
  const found = await listDeleted(session, place)
  const rows = found.map(({ ciphertext, ...row }) => row)
  return {
    json: { environment: { id: place.envId, label: place.label }, deletedSecrets: rows },
    text: async () => {
      const nameOf = await openDirectory(
        session,
        rows.map(({ deletedById }) => deletedById),
      )
      writeTable(
        ['name', 'version', 'deleted', 'by', 'kept until', 'id'],
        rows.map(({ id, name, version, deletedAt, deletedById, keptUntil, restorable }) => [
          name,
          String(version),
          shownTime(deletedAt),
          nameOf(deletedById) ?? deletedById,
          restorable ? shownTime(keptUntil) : 'lost: the environment was re-keyed',
          id,
        ]),
        'no deleted secret is kept; earlier versions are in `skerry secrets history <NAME>`',
      )
      if (rows.some(({ restorable }) => restorable))
        note(`restore one with \`skerry secrets restore <NAME> ${placeOptions(place.label)}\``)
    },
  }
}
