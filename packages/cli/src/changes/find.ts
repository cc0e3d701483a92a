import { idPrefixes } from '@skerry/contract/prefixes'
import { Failure } from '../failure.ts'
import type { Session } from '../session.ts'

/** Finds the change that an id names. The id of a group names all changes that were proposed together. */
export async function findChange(session: Session, orgId: string, id: string) {
  const changeRequestId = id.startsWith(idPrefixes.changeGroup) ? await firstOf(session, orgId, id) : id
  const { changeRequest, reviews } = await session.client.changes.get({ params: { orgId, changeRequestId } })
  const { groupId } = changeRequest
  const together = groupId === null ? [changeRequest] : await inGroup(session, orgId, groupId)
  return { change: changeRequest, reviews, together, id: groupId ?? changeRequest.id }
}

async function firstOf(session: Session, orgId: string, groupId: string): Promise<string> {
  const [first] = await inGroup(session, orgId, groupId)
  if (first) return first.id
  throw new Failure('notFound', 'there is no such change request')
}

async function inGroup(session: Session, orgId: string, groupId: string) {
  const { changeRequests } = await session.client.changes.list({ params: { orgId }, query: { groupId } })
  return changeRequests.sort((a, b) => ((a.secretName ?? '') < (b.secretName ?? '') ? -1 : 1))
}
