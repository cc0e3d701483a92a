import { expect, test } from 'vitest'
import { until } from '../../test/until.ts'
import type { Sql } from '../db/database.ts'
import { openFaults } from './faults.ts'
import { openLog } from './log.ts'

const broken = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

function open(isUp: () => boolean) {
  const lines: { level: string; message: string; code?: string }[] = []
  const log = openLog('debug', (line) => lines.push(JSON.parse(line)))
  const rows = async () => {
    if (!isUp()) throw broken()
    return []
  }
  return { lines, faults: openFaults({ rows } as unknown as Sql, log) }
}

test('each error is logged while the database is up', async () => {
  const { lines, faults } = open(() => true)
  faults.error('request failed', new TypeError('x'), { route: '/a' })
  faults.warn('job failed', broken())
  await until('both', () => lines.length === 2)
  expect(lines).toMatchObject([
    { level: 'error', message: 'request failed', route: '/a', error: 'TypeError' },
    { level: 'warn', message: 'job failed', code: 'ECONNREFUSED' },
  ])
  await faults.stop()
})

test('all connection errors of an outage share one log line, and other errors are still logged', async () => {
  let isUp = false
  const { lines, faults } = open(() => isUp)
  for (let count = 0; count < 50; count++) faults.error('request failed', broken())
  await until('the line about it', () => lines.length === 1)
  for (let count = 0; count < 50; count++) faults.warn('job failed', broken())
  faults.error('request failed', new TypeError('x'))
  isUp = true
  await until('the line at its end', () => lines.length === 3)
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ['error', 'the database does not answer: requests fail and jobs wait until it is back'],
    ['error', 'request failed'],
    ['warn', 'the database answers again'],
  ])
  await faults.stop()
})

test('a database that still answers one probe while it shuts down counts as an outage', async () => {
  let answersLeft = 1
  const { lines, faults } = open(() => answersLeft-- > 0)
  faults.warn('job failed', broken())
  await until('the line about it', () => lines.length === 1)
  expect(lines[0]?.message).toContain('the database does not answer')
  await faults.stop()
})

test('an error that waits for a probe is logged if the server stops', async () => {
  const { lines, faults } = open(() => true)
  faults.warn('job failed', broken())
  await faults.stop()
  expect(lines.map(({ message }) => message)).toEqual(['job failed'])
})

test('a server that stops during an outage stops at once', async () => {
  const { lines, faults } = open(() => false)
  faults.error('request failed', broken())
  await until('the line about it', () => lines.length === 1)
  await faults.stop()
  expect(lines).toHaveLength(1)
})
