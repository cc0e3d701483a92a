import type { Answer } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import type { vaultProjects } from '@skerry/contract/vault/projects'
import { Failure } from '../failure.ts'
import { parseLimit } from '../options.ts'
import { note, type Output, writeTable } from '../output.ts'
import { eachPage } from '../pages.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import { shownMoment, shownTime } from '../times.ts'
import type { AtProject, InProject, Place } from './find.ts'

type Page = Answer<typeof vaultProjects.connections>
type Connection = Page['connections'][number]

interface Filter {
  userRef?: string
  status?: Connection['status']
}

/** Yields one connection after the other, and fetches them page by page. */
async function* eachConnection(session: Session, place: Place, filter: Filter): AsyncGenerator<Connection> {
  const pages = eachPage((at) =>
    session.client.vaultProjects.connections({ params: place, query: { ...filter, limit: limits.listMax, ...at } }),
  )
  for await (const { connections } of pages) yield* connections
}

export async function list({
  session,
  flags,
  place,
  input: { most },
}: AtProject<InProject & Filter & { limit: string }, typeof parseList>): Promise<Output> {
  const { userRef, status } = flags
  const filter = { ...(userRef !== undefined && { userRef }), ...(status && { status }) }
  const connections: Connection[] = []
  let more = false
  for await (const one of eachConnection(session, place, filter)) {
    more = connections.length === most
    if (more) break
    connections.push(one)
  }
  return {
    json: { connections },
    text: () => {
      writeTable(
        ['id', 'person', 'provider', 'status', 'last used'],
        connections.map((one) => [
          one.id,
          one.userRef,
          one.providerId,
          one.statusReason ?? one.status,
          shownTime(one.lastUsedAt),
        ]),
        'nobody has connected an account here; give your backend a key with `skerry vault key create`',
      )
      if (more) note('there are more connections: show all with --limit 0')
    },
  }
}

export const parseList = (flags: InProject & Filter & { limit: string }) => ({
  most: parseLimit(flags.limit, 0) || Number.POSITIVE_INFINITY,
})

async function findConnection(session: Session, place: Place, wanted: string): Promise<Connection> {
  for await (const one of eachConnection(session, place, {})) if (one.id === wanted) return one
  throw new Failure('notFound', `there is no connection ${wanted}`, 'see `skerry vault connection ls`')
}

export async function show(id: string, { session, place }: AtProject): Promise<Output> {
  const connection = await findConnection(session, place, id)
  return {
    json: { connection },
    text: () =>
      writeTable(
        ['what', 'value'],
        [
          ['person', connection.userRef],
          ['provider', `${connection.providerName} (${connection.providerId})`],
          ['account', connection.accountLabel ?? ''],
          ['status', connection.status],
          ['reason', connection.statusReason ?? ''],
          ...connection.slots.map(({ slot, revision, updatedAt }) => [
            slot,
            `revision ${revision} of ${shownMoment(updatedAt)}`,
          ]),
          ['agreed', `${shownMoment(connection.consentedAt)}, version ${connection.consentVersion}`],
          ['last used', shownTime(connection.lastUsedAt)],
          [
            'revoked',
            connection.revokedAt === null ? 'no' : `${shownMoment(connection.revokedAt)}, by ${connection.revokedBy}`,
          ],
        ],
      ),
  }
}

export async function revoke(
  id: string,
  { session, flags, place, project }: AtProject<InProject & { yes?: boolean }>,
): Promise<Output> {
  await confirmOrRefuse(`deletes the credentials of connection ${id} of ${project.name} for good`, flags)
  const params = { ...place, vaultConnectionId: id }
  const { connection } = await session.client.vaultProjects.revokeConnection({ params })
  return { json: { connection }, after: () => note(`revoked connection ${connection.id}`) }
}
