import { Agent, request } from 'node:http'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearerSecret } from '../../../test/blobs.ts'
import { deadTokens } from '../../../test/callers.ts'
import { signUp } from '../../../test/tenant.ts'
import { openWorld, type World } from '../../../test/world.ts'
import { newId, sha256 } from '../../kernel/context.ts'

// Checks that the response time does not tell a decoy from a token that nobody registered. The tokens are presented in
// turns, so that other load on the machine affects all of them alike.

const rounds = 300
/** Far more than the noise in the quickest fifth of so many, and less than a query or a sync costs. */
const boundMs = 1

let world: World
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  agent.destroy()
  await world.close()
})

function timed(authorization: string): Promise<number> {
  return new Promise((done, fail) => {
    const startedAt = performance.now()
    const sent = request(`${world.url}/v1/me`, { agent, headers: { authorization } }, (response) => {
      response.resume().on('end', () => done(performance.now() - startedAt))
    })
    sent.on('error', fail).end()
  })
}

/** The time below which a fifth of the values are. Other load makes some requests slower, and none quicker. */
const quick = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 5)] as number
const difference = (one: number[], other: number[]) => quick(one) - quick(other)

test('a decoy is refused in the time of an unknown, a revoked and an expired token', { timeout: 120_000 }, async () => {
  const tenant = await signUp(world)
  const { deleted: _, ...dead } = await deadTokens(world, tenant)
  const tokenId = newId('serviceToken')
  const bearer = `${tokenId}_${bearerSecret()}`
  const body = { tokenId, tokenHash: sha256(bearer) }
  await world.call(honeyTokens.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  const kinds = Object.entries({ decoy: `Bearer ${bearer}`, ...dead })

  const times: Record<string, number[]> = Object.fromEntries(kinds.map(([kind]) => [kind, []]))
  for (let round = -20; round < rounds; round++)
    for (let turn = 0; turn < kinds.length; turn++) {
      const [kind, authorization] = kinds[(turn + round + 20) % kinds.length] as [string, string]
      const ms = await timed(authorization)
      if (round >= 0) times[kind]?.push(ms)
    }

  const { decoy, ...others } = times as Record<string, number[]> & { decoy: number[] }
  for (const [kind, of] of Object.entries(others)) {
    expect(Math.abs(difference(decoy, of)), kind).toBeLessThan(boundMs)
    // The same comparison would notice the time for writing the use before the answer.
    expect(
      difference(
        decoy.map((ms) => ms + 2),
        of,
      ),
      kind,
    ).toBeGreaterThan(boundMs)
  }
})
