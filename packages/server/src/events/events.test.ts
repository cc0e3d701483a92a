import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../test/until.ts'
import { openWorld, type World } from '../../test/world.ts'
import { openQueue } from '../jobs/queue.ts'
import type { KernelContext } from '../kernel/context.ts'
import { type Event, openEvents, type Subscriber, subscriber } from './events.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const facts = { sessionId: 'skc_x', userId: 'usr_x', deviceLabel: 'laptop', client: null, ipAddress: null }
const approved = { ...facts, expiresAt: '2026-01-02T03:04:05.000Z' }
type Approved = Event<'cli_session.approved'>

/** A second queue with its own subscribers. It starts and ends within one test. */
function openHalf(subscribers: Subscriber<KernelContext>[]) {
  const { context } = world.server
  const queue = openQueue(
    context.db,
    subscribers.map(({ job }) => job),
  )
  const events = openEvents(queue, subscribers, world.clock.now)
  return { queue, events, context: { ...context, queue, events } }
}

/** Makes jobs due that wait for their retry. */
const endPause = () => world.server.context.db.rows(`update jobs set due_at = now() where state = 'waiting'`)

test('an event is delivered with its facts to each subscriber of its type, and to no other', async () => {
  const told: [string, Approved][] = []
  const hears = (name: string) =>
    subscriber(name, ['cli_session.approved'], async (_, event) => void told.push([name, event]))
  const other = subscriber('of-another-type', ['invite.created'], () => Promise.reject(new Error('not mine')))
  const { queue, events, context } = openHalf([hears('first'), hears('second'), other])
  await queue.start(context)
  const jobs = await context.db.transaction((tx) => events.emit(tx, 'cli_session.approved', null, approved))
  for (const job of jobs) queue.nudge(job)
  await until('both', () => told.length === 2)
  expect(told.map(([name]) => name).toSorted()).toEqual(['first', 'second'])
  expect(told[0]?.[1]).toEqual(told[1]?.[1])
  expect(told[0]?.[1]).toMatchObject({ type: 'cli_session.approved', orgId: null, facts: approved })
  await queue.stop()
})

test('an event is delivered again to a subscriber that failed, and not to the others', async () => {
  const told: string[] = []
  const sound = subscriber('sound', ['cli_session.approved'], async (_, { id }) => void told.push(`sound ${id}`))
  const failing = subscriber('failing', ['cli_session.approved'], async (_, { id }) => {
    told.push(`failing ${id}`)
    if (told.filter((one) => one.startsWith('failing')).length === 1) throw new Error('not yet')
  })
  const { queue, events, context } = openHalf([sound, failing])
  await queue.start(context)
  const jobs = await events.emit(context.db, 'cli_session.approved', null, approved)
  for (const job of jobs) queue.nudge(job)
  await until('a failure', async () =>
    context.db.row(`select 1 from jobs where name = 'events.failing' and state = 'waiting' and attempts = 1`),
  )
  await endPause()
  await until('the second time', () => told.length === 3)
  await until('all delivered', async () => {
    const waiting = `select 1 from jobs where name in ('events.sound', 'events.failing') and state <> 'completed'`
    return (await context.db.row(waiting)) === undefined
  })
  expect(new Set(told.map((one) => one.split(' ')[1])).size).toBe(1)
  expect(told.map((one) => one.split(' ')[0]).toSorted()).toEqual(['failing', 'failing', 'sound'])
  await queue.stop()
})

test('if a server ends between commit and delivery, the next server delivers the event', async () => {
  const told: string[] = []
  const row = subscriber('patient', ['cli_session.approved'], async (_, { facts }) => void told.push(facts.sessionId))
  const first = openHalf([row])
  await first.queue.start(first.context)
  await first.queue.stop()
  await first.context.db.transaction((tx) => first.events.emit(tx, 'cli_session.approved', null, approved))
  const second = openHalf([row])
  await second.queue.start(second.context)
  await until('the event', () => told.length > 0)
  expect(told).toEqual(['skc_x'])
  await second.queue.stop()
})
