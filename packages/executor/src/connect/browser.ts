import { checkSize, siteOf } from '../browser/calls.ts'
import type { Executor } from '../executor.ts'
import { fail } from '../http/refusal.ts'
import { answer, type Call } from '../http/server.ts'
import { askPerson, viewMs } from '../live/view.ts'
import { verify } from './session.ts'

/**
 * Opens a browser in which the person signs in to the site. Another start continues in the same browser, with a new
 * link.
 */
export async function startBrowser(executor: Executor, { body }: Call) {
  const session = await verify(executor, body.claimToken, 'browser')
  const site = siteOf(executor, session.provider.id)
  const { leases } = executor
  const known = leases.find(session.id)
  const lease = known ?? (await leases.begin(session.id, { holder: null, site, state: undefined, ttlMs: viewMs }))
  try {
    return answer(await askPerson(executor, lease))
  } catch (error) {
    await leases.end(lease)
    throw error
  }
}

/** The page reports that its person has signed in. The executor checks that, and stores the session of the browser. */
export async function finishBrowser(executor: Executor, { body }: Call) {
  const session = await verify(executor, body.claimToken, 'browser')
  const lease = executor.leases.find(session.id)
  if (!lease) throw fail('conflict', 'no browser is open for this session: open it again')
  const state = await lease.browser.state()
  if (state === null) throw fail('conflict', 'nobody is signed in to the site yet')
  checkSize(state)
  const { projectId, connectionId, provider, slots } = session
  const revision = slots.find(({ slot }) => slot === 'session')?.revision ?? 1
  const place = { projectId, connectionId, providerId: provider.id, slot: 'session', revision } as const
  const sealed = await executor.credentials.seal(state, place)
  const params = { connectSessionId: session.id }
  const done = await executor.server.complete({ params, body: { slots: [{ slot: 'session', revision, ...sealed }] } })
  await executor.leases.end(lease)
  return answer(done)
}
