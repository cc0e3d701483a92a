import type { offboardings } from '@skerry/contract/offboardings/endpoints'
import { pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { InOrg } from '../orgs/scope.ts'
import { getRow, lockForChange, tellAssignee } from './rows.ts'
import { findOffboarding, type OnOffboarding } from './scope.ts'
import {
  type Change,
  changeRow,
  finishOffboarding,
  isAdminInPerson,
  listOffboardings,
  listOpen,
  listRows,
  lockRunning,
  type Row,
} from './store.ts'

export async function list({
  db,
  org,
  query,
  now,
}: In<typeof offboardings.list, InOrg>): Out<typeof offboardings.list> {
  const cursor = pageFrom(query, 'offboarding')
  const found = await listOffboardings(db, org, { status: query.status ?? 'any', now }, cursor)
  const page = pageOf(found, cursor, ({ startedAt, id }) => [startedAt, id])
  return { offboardings: page.rows, nextCursor: page.nextCursor }
}

export async function get({ offboarding }: In<typeof offboardings.get, OnOffboarding>): Out<typeof offboardings.get> {
  return { offboarding }
}

export async function rows(input: In<typeof offboardings.rows, OnOffboarding>): Out<typeof offboardings.rows> {
  const { db, org, offboarding, query } = input
  const cursor = pageFrom(query, 'offboardingRow')
  const found = await listRows(db, org, offboarding.id, input, cursor)
  const page = pageOf(found, cursor, ({ id }) => [offboarding.startedAt, id])
  return { rows: page.rows, nextCursor: page.nextCursor }
}

type Changing = In<typeof offboardings.change, OnOffboarding>

export async function change(input: Changing): Out<typeof offboardings.change> {
  const { db, org, offboarding, params, body, audit } = input
  if (Object.keys(body).length === 0) throw fail('invalid_request', 'body: name a state, a note or an assigneeId')
  const row = await lockForChange(input)
  const { note = row.note, assigneeId = row.assigneeId } = body
  if (body.assigneeId && !(await isAdminInPerson(db, org, body.assigneeId)))
    throw fail('invalid_request', 'body.assigneeId: not an admin of this organization')
  const changed = await changeRow(
    db,
    org,
    params.offboardingRowId,
    { state: stateOf(row, body), note, assigneeId },
    input,
  )
  if (!changed) return { row }
  const after = await getRow(input)
  audit('offboarding.row_changed', offboarding.id, {
    userId: offboarding.userId,
    kind: row.kind,
    environmentId: row.environmentId,
    name: row.secretName,
    state: after.state,
    note,
    assigneeId,
  })
  if (after.state === 'waiting' && after.assigneeId !== row.assigneeId) await tellAssignee(input, after, false)
  return { row: after }
}

/** Returns the state to store. The server sees a re-key and a new sharing, so nobody can claim them. */
function stateOf({ kind, state }: Row, body: Changing['body']): Change['state'] {
  if (body.state === undefined) return undefined
  const isSeen = kind !== 'rotate_value'
  if (isSeen && body.state === 'done')
    throw fail('invalid_request', 'body.state: the server marks this row as done; use not_needed to skip it')
  if (state === 'deleted' || (isSeen && state === 'done')) throw fail('conflict', 'this row is done')
  return body.state === 'done' ? 'replaced' : body.state
}

/** Finishes the offboarding once. The audit entry names what stays open. */
export async function finish(input: In<typeof offboardings.finish, OnOffboarding>): Out<typeof offboardings.finish> {
  const { db, org, offboarding, principal, body, now, audit } = input
  if (await lockRunning(db, org, offboarding.id, 'update')) {
    const open = await listOpen(db, org, offboarding.id, now)
    const count = open.reduce((sum, { rows }) => sum + rows, 0)
    if (count > 0 && !body.acceptOpen)
      throw fail('conflict', `${count} rows are open: finish them, or set acceptOpen to leave them open`)
    await finishOffboarding(db, org, offboarding.id, principal, now)
    audit('offboarding.finished', offboarding.id, { userId: offboarding.userId, open: count, left: open })
  }
  return { offboarding: (await findOffboarding(db, org, offboarding.id, now)) ?? offboarding }
}
