import { expect, test } from 'vitest'
import { openTenant } from '../../test/scene.ts'
import { until } from '../../test/until.ts'
import { openFaults } from '../kernel/faults.ts'
import { openLog } from '../kernel/log.ts'
import { openLastUsed } from './last-used.ts'

const { world, tenant } = await openTenant()
const { db } = world.server.context

const noted = () => db.rows<{ id: string }>(`select id from vault_uses where id like 'vcn_note%' order by id`)

test('a use that cannot be written does not prevent the other uses, and is tried again', async () => {
  const warned: string[] = []
  const log = openLog('warn', (line) => warned.push(line))
  const lastUsed = openLastUsed(db, openFaults(db, log))
  const note = (orgId: string, id: string) => lastUsed.noteVault({ orgId, id }, world.clock.now().getTime())
  const ofNobody = 'org_0000000000000000000000'
  // The first use is written at once, and the others together.
  note(tenant.orgId, 'vcn_note1')
  note(tenant.orgId, 'vcn_note2')
  note(ofNobody, 'vcn_note3')
  note(tenant.orgId, 'vcn_note4')
  await until('the last one', async () => (await noted()).at(-1)?.id === 'vcn_note4')
  expect((await noted()).map(({ id }) => id)).toEqual(['vcn_note1', 'vcn_note2', 'vcn_note4'])
  expect(warned).toHaveLength(1)
  note(ofNobody, 'vcn_note3')
  await until('another warning', () => warned.length === 2)
})
