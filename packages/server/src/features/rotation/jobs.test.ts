import { expect, test } from 'vitest'
import { newId } from '../../kernel/context.ts'
import { runDue } from './jobs.ts'

test('the runs of an organization share two lanes, and another organization has its own', () => {
  const lanesOf = (orgId: string) =>
    new Set(Array.from({ length: 200 }, () => runDue.perKey?.({ orgId, rotationId: newId('rotation') })))
  const [one, other] = [lanesOf('org_1'), lanesOf('org_2')]
  expect([one.size, other.size]).toEqual([2, 2])
  expect([...one].filter((lane) => other.has(lane))).toEqual([])
  // Even if the targets of three organizations never answer, there are runs left for the others.
  expect(runDue.concurrency).toBeGreaterThan(3 * one.size)
})

test('a policy stays in its lane, so that only one of its runs works at a time', () => {
  const due = { orgId: 'org_1', rotationId: newId('rotation') }
  expect(runDue.perKey?.(due)).toBe(runDue.perKey?.({ ...due }))
})
