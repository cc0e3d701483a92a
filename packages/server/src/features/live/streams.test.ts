import { limits } from '@skerry/contract/limits'
import { expect, test } from 'vitest'
import type { Refusal } from '../../kernel/errors.ts'
import { openStreams, type Streams, type Watcher } from './streams.ts'

const watcher = (orgId: string, id: string): Watcher => ({
  orgId,
  principal: { type: 'service_token', id } as Watcher['principal'],
  isAdmin: true,
  endsAtMs: Number.POSITIVE_INFINITY,
})

/** Opens streams of an organization, each by another token, until one is refused. Returns the refusal. */
function openAll(streams: Streams, orgId: string): string {
  for (let n = 0; ; n++) {
    try {
      streams.add(watcher(orgId, `${orgId}-${n}`))
    } catch (error) {
      return (error as Refusal).message
    }
  }
}

test('one organization gets half of the streams of a server, and is told so', () => {
  const streams = openStreams()
  const half = limits.liveStreamsMax / 2
  expect(openAll(streams, 'org_greedy')).toBe(
    `your organization has ${half} event streams open on this server, and the other ${half} are kept for other organizations: close some, or try again later`,
  )
  expect(streams.of('org_greedy')?.size).toBe(half)
})

test('each further organization gets half of the rest', () => {
  const streams = openStreams()
  for (const n of [1, 2, 3]) openAll(streams, `org_${n}`)
  expect([1, 2, 3].map((n) => streams.of(`org_${n}`)?.size)).toEqual([1000, 500, 250])
})

test('a closed stream can be opened again', () => {
  const streams = openStreams()
  openAll(streams, 'org_greedy')
  const [one] = streams.of('org_greedy') ?? []
  if (!one) throw new Error('no stream is open')
  streams.remove(one)
  streams.add(watcher('org_greedy', 'skt_again'))
  expect(streams.of('org_greedy')?.size).toBe(limits.liveStreamsMax / 2)
})

test('a caller gets eight streams in all of their organizations', () => {
  const streams = openStreams()
  for (let n = 0; n < limits.liveStreamsPerCaller; n++) streams.add(watcher(`org_${n}`, 'usr_1'))
  expect(() => streams.add(watcher('org_other', 'usr_1'))).toThrow('you have 8 event streams open')
})
