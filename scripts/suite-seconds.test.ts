import { expect, test } from 'vitest'
import { findSlower } from './suite-seconds.ts'

const recorded = { 'cli  a': 10, 'cli  b': 20, 'cli  c': 30, 'cli  d': 1 }
const run = (a: number, b: number, c: number, d: number) =>
  Object.entries({ 'cli  a': a, 'cli  b': b, 'cli  c': c, 'cli  d': d, 'cli  new': 100 }).map(([name, seconds]) => ({
    name,
    seconds,
  }))
const slowerIn = (...seconds: [number, number, number, number]) =>
  findSlower(run(...seconds), recorded).map(({ name }) => name)

test('a suite that takes half as long again as recorded is named', () => {
  expect(slowerIn(14.9, 20, 30, 1)).toEqual([])
  expect(slowerIn(15, 20, 30, 1)).toEqual(['cli  a'])
})

test('a machine that is slow in every suite names none, and still names the one that stands out', () => {
  expect(slowerIn(30, 60, 90, 3)).toEqual([])
  expect(slowerIn(50, 60, 90, 3)).toEqual(['cli  a'])
})

test('a short suite and a new one are not compared', () => {
  expect(slowerIn(10, 20, 30, 4)).toEqual([])
})
