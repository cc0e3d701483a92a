import type { ChildProcess } from 'node:child_process'
import { afterAll, expect, test } from 'vitest'
import { consented } from '../../server/test/vault-scene.ts'
import { openJournal } from '../src/oauth/journal.ts'
import { openMailScene } from './mail-scene.ts'
import { kill9, launch } from './process.ts'
import { signIn } from './provider.ts'
import { connectionOf, page } from './scene.ts'

/** SKERRY_CRASH_ROUNDS sets fewer rounds, for use during development. */
const rounds = Number(process.env.SKERRY_CRASH_ROUNDS ?? 30)

// An access token is valid for 5 s, which is less than the executor requires, so each request refreshes.
const { scene, provider, call } = await openMailScene(5)

let child: ChildProcess | undefined
afterAll(() => child && kill9(child))

async function connect(more: object = {}): Promise<string> {
  const { claimToken } = await consented(scene.world, scene, { providerId: 'mail', ...more })
  const { body } = await page(scene, '/connect/oauth/start', { claimToken })
  const { headers } = await fetch(await signIn(String(body.authorizationUrl)), { redirect: 'manual' })
  const flow = new URLSearchParams(new URL(headers.get('location')!).hash.slice(1)).get('f')
  const done = await page(scene, '/connect/oauth/finish', { claimToken, flow })
  expect(done.status).toBe(200)
  return String(done.body.connectionId)
}

/** The points of a refresh at which the executor is killed. */
const cutOff = {
  /** The provider has the request, and may or may not continue it. */
  async asked(connectionId: string) {
    const [asked, killed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    provider.before = () => {
      asked.resolve()
      return killed.promise
    }
    const answer = call(connectionId).catch(() => undefined)
    await asked.promise
    await kill9(child!)
    killed.resolve()
    await answer
  },
  /** The provider has replaced the token, and its answer is lost. */
  async replaced(connectionId: string) {
    provider.losesAnswer = () => child?.kill('SIGKILL') === true
    await call(connectionId).catch(() => undefined)
    provider.losesAnswer = () => false
    await kill9(child!)
  },
  /** The answer is on disk, and is being written back. */
  async answered(connectionId: string) {
    let isOver = false
    const over = () => {
      isOver = true
    }
    const answer = call(connectionId).then(over, over)
    const journal = openJournal(scene.state)
    while (!isOver && (await journal.read(connectionId))?.sealed === undefined)
      await new Promise((resolve) => setImmediate(resolve))
    await kill9(child!)
    await answer
  },
  async over(connectionId: string) {
    await call(connectionId)
    await kill9(child!)
  },
}
const points = ['asked', 'replaced', 'answered', 'over'] as const

test(`no refresh token is lost unnoticed in ${rounds} rounds of kill -9 during refresh and write-back`, async () => {
  child = await launch(scene)
  const connectionId = await connect()
  for (let round = 0; round < rounds; round++) {
    const point = points[round % points.length]!
    await cutOff[point](connectionId)
    provider.before = async () => {}
    child = await launch(scene)
    const { status, body } = await call(connectionId)
    const connection = await connectionOf(scene, connectionId)
    // If the provider has replaced a token and nobody has the new one, the connection reports that. The next start
    // finishes everything else. Only the provider decides whether it continues a request whose sender is gone.
    const isLost = point === 'replaced' || (point === 'asked' && status === 409)
    const expected = isLost ? [409, 'reauth_required'] : [200, 'active']
    expect([point, status, connection.status]).toEqual([point, ...expected])
    if (isLost) {
      expect(body.error?.code).toBe('reauth_required')
      expect(connection.statusReason).toBe('refresh_outcome_unknown')
      expect(await connect({ purpose: 'reconnect', connectionId })).toBe(connectionId)
    }
    expect(await openJournal(scene.state).open()).toEqual([])
  }
}, 900_000)
