import type { offboardings } from '@skerry/contract/offboardings/endpoints'
import type { In, Out } from '../../http/route.ts'
import { takeAttempt } from '../../identity/throttle.ts'
import { fail } from '../../kernel/errors.ts'
import { called, findName } from '../../model/people/names.ts'
import type { OnOffboarding } from './scope.ts'
import { findRow, isAdminInPerson, lockRow, lockRunning, type Row } from './store.ts'

type OnRow = Omit<In<typeof offboardings.remind, OnOffboarding>, 'audit'>

/** Locks a row of a running offboarding until commit. */
export async function lockForChange(input: OnRow): Promise<Row> {
  const { db, org, offboarding, params } = input
  if (!(await lockRunning(db, org, offboarding.id, 'share'))) throw fail('conflict', 'this offboarding is finished')
  if (!(await lockRow(db, org, offboarding.id, params.offboardingRowId))) throw noRow()
  return getRow(input)
}

export async function getRow(input: OnRow): Promise<Row> {
  const row = await findRow(input.db, input.org, input.offboarding.id, input.params.offboardingRowId, input)
  if (!row) throw noRow()
  return row
}

const noRow = () => fail('not_found', 'no such row of an offboarding')

/** Mails the admin to whom the row was handed once more. */
export async function remind(input: In<typeof offboardings.remind, OnOffboarding>): Out<typeof offboardings.remind> {
  const { db, offboarding, now, audit } = input
  const row = await lockForChange(input)
  const { kind, environmentId, secretName, assigneeId } = row
  await checkRemindable(input, row)
  await takeAttempt(db, 'offboarding_reminder', `${row.id} ${assigneeId}`, now)
  audit('offboarding.row_reminded', offboarding.id, {
    userId: offboarding.userId,
    kind,
    environmentId,
    name: secretName,
    assigneeId,
  })
  await tellAssignee(input, row, true)
  return { row }
}

async function checkRemindable({ db, org, principal }: OnRow, { state, assigneeId }: Row): Promise<void> {
  if (state !== 'waiting') throw fail('conflict', 'this row is done')
  if (assigneeId === null) throw fail('conflict', 'this row was handed to nobody: hand it to an admin first')
  if (assigneeId === principal.id) throw fail('conflict', 'this row was handed to you')
  if (!(await isAdminInPerson(db, org, assigneeId)))
    throw fail('conflict', 'this row was handed to a person who is no longer an admin: hand it to another one')
}

/** Mails the admin to whom a row was handed. Nobody gets a mail about what they did themselves. */
export async function tellAssignee(input: OnRow, row: Row, reminder: boolean): Promise<void> {
  const { db, org, offboarding, principal, emit } = input
  const { assigneeId, note } = row
  if (assigneeId === null || assigneeId === principal.id) return
  await emit('offboarding.row_handed', {
    offboardingId: offboarding.id,
    assigneeId,
    person: called({ ...offboarding, id: offboarding.userId }),
    task: taskOf(row),
    by: await findName(db, org.id, principal),
    note,
    reminder,
  })
}

function taskOf({ kind, label, secretName }: Row): string {
  if (kind === 'recovery_share') return 'replace the recovery share'
  return kind === 'rekey' ? `re-key ${label}` : `replace the value of ${secretName} in ${label}`
}
