import { expect, test } from 'vitest'
import {
  type Offboarding,
  type OffboardingRow,
  offboardingCsv,
  offboardingMarkdown,
  rekeyability,
} from './offboarding.ts'

const offboarding: Offboarding = {
  id: 'ofb_1',
  userId: 'usr_1',
  email: 'grace@example.com',
  name: 'Grace | Okafor\n# Owner',
  startedByType: 'user',
  startedById: 'usr_2',
  startedAt: '2026-10-04T12:00:00.000Z',
  finishedByType: null,
  finishedById: null,
  finishedAt: null,
  revoked: [{ kind: 'service_token', id: 'skt_1', name: '[ci](https://example.com)' }],
  rows: 2,
  open: 1,
  recovery: null,
}
const row: OffboardingRow = {
  id: 'ofr_1',
  kind: 'rekey',
  state: 'waiting',
  environmentId: 'env_1',
  label: 'shop/production',
  secretName: null,
  via: 'grant',
  protected: false,
  changeRequestId: null,
  held: true,
  holderIds: [],
  rotationId: null,
  note: '=HYPERLINK("x")',
  assigneeId: null,
  changedByType: null,
  changedById: null,
  changedAt: null,
}
const value: OffboardingRow = { ...row, kind: 'rotate_value', state: 'replaced', secretName: 'DB_PASSWORD', note: null }
const report = { offboarding, rows: [row, value], nameOf: (id: string | null) => (id === null ? '' : `the ${id}`) }

test('a report in Markdown names the person, what was revoked and every row, and runs nothing that others wrote', () => {
  const text = offboardingMarkdown(report)
  expect(text.split('\n')[0]).toBe('# Offboarding of Grace \\| Okafor \\# Owner')
  expect(text).toContain('- Service token \\[ci\\](https://example.com)')
  expect(text).toContain('| Re-key | shop/production | open |')
  expect(text).toContain('| Replace the value | shop/production DB\\_PASSWORD | replaced |')
  expect(text).toContain('Done: 1 of 2 rows.')
})

test('a report as CSV quotes each cell, and no cell is a formula', () => {
  const lines = offboardingCsv(report).split('\r\n')
  expect(lines[1]).toBe(`"Re-key","shop/production","open","","","","'=HYPERLINK(""x"")"`)
  expect(lines).toHaveLength(4)
})

test('an environment is ready for a re-key if it waits, is not protected, and its key is held', () => {
  expect(rekeyability(row)).toBe('ready')
  expect(rekeyability({ ...row, protected: true })).toBe('to_propose')
  expect(rekeyability({ ...row, protected: true, changeRequestId: 'chg_1' })).toBe('proposed')
  expect(rekeyability({ ...row, protected: true, held: false })).toBe('no_key')
  expect(rekeyability({ ...row, held: false })).toBe('no_key')
  expect(rekeyability({ ...row, state: 'done' })).toBe('closed')
  expect(rekeyability(value)).toBe('closed')
})
