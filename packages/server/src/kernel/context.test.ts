import { idPattern } from '@skerry/contract/prefixes'
import { expect, test } from 'vitest'
import { newAuditId } from './context.ts'

test('the ids of audit entries sort by time and are unique', () => {
  const instants = ['1970-01-01', '2026-11-23T06:00:00.000Z', '2026-11-23T06:00:00.001Z', '2081-01-01', '9999-12-31']
  const ids = instants.map((instant) => newAuditId(new Date(instant)))
  expect([...ids].sort()).toEqual(ids)
  for (const id of ids) expect(id).toMatch(new RegExp(idPattern('audit')))
  const now = new Date()
  expect(new Set(Array.from({ length: 1000 }, () => newAuditId(now))).size).toBe(1000)
})
