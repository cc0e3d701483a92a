import type { Answer } from '@skerry/contract/endpoint'
import type { cliSessions } from '@skerry/contract/me/cli-sessions'
import type { Command } from 'commander'
import { findOne } from '../find-one.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { confirmable, leaf } from '../options.ts'
import { note, type Output, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Confirmable } from '../settings.ts'
import { notedTime, shownTime } from '../times.ts'

type CliSession = Answer<typeof cliSessions.list>['sessions'][number]

export function register(command: Command): void {
  leaf(command, 'ls', 'List your sessions on the command line, ended ones too').action(signedIn(list))
  confirmable(leaf(command, 'revoke <session>', 'End a session, named by its machine or id')).action(signedIn(revoke))
}

async function list({ session }: SignedIn): Promise<Output> {
  const { sessions, currentSessionId } = await session.client.cliSessions.list()
  return {
    json: { sessions, currentSessionId },
    text: () =>
      writeTable(
        ['id', 'machine', 'from', 'state', 'last used'],
        sessions.map((one) => [
          one.id === currentSessionId ? `${one.id} *` : one.id,
          one.deviceLabel,
          one.ipAddress ?? '',
          stateOf(one),
          shownTime(one.lastUsedAt),
        ]),
        'no sessions; start one with `skerry login`',
      ),
  }
}

function stateOf({ revokedAt, expiresAt }: CliSession): string {
  if (revokedAt !== null) return 'ended'
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${shownTime(expiresAt)}`
}

async function revoke(wanted: string, { session: { client }, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { sessions, currentSessionId } = await client.cliSessions.list()
  const live = sessions.filter((one) => one.id === wanted || one.revokedAt === null)
  const found = findOne(live, wanted, {
    kind: 'cliSession',
    noun: 'session',
    list: 'skerry sessions ls',
    nameOf: ({ deviceLabel }) => deviceLabel,
  })
  const { id } = found
  const own = id === currentSessionId ? ', which is this one,' : ''
  await confirmOrRefuse(
    `ends the session on ${found.deviceLabel}${own} that began at ${notedTime(found.createdAt)}`,
    flags,
  )
  await client.cliSessions.revoke({ params: { cliSessionId: id } })
  note(`ended the session on ${found.deviceLabel}`)
  return { json: { revoked: id } }
}
