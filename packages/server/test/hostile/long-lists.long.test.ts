import { resolve } from '@skerry/contract/resolve/endpoints'
import { expect, test } from 'vitest'
import { seedTokens } from '../many-tokens.ts'
import { openEnv } from '../scene.ts'
import { signUp } from '../tenant.ts'
import { call } from '../world.ts'

// One organization lists very many tokens while another organization resolves its secrets.

const { world, tenant: victim, envId } = await openEnv()
const greedy = await signUp(world)
for (let ten = 0; ten < 10; ten++) await seedTokens(world, greedy.orgId, 10_000)

// The resolves compete with the list, so both take minutes on a busy machine.
const withinMs = 600_000

test('a list of 100,000 tokens lets cached answers of another organization pass between its pages', {
  timeout: withinMs,
}, async () => {
  const query = { env: envId }
  const ask = async () => {
    const { status } = await call(world.url, world.answers, resolve.get, { as: victim.admin.as, query })
    expect(status).toBe(200)
  }
  await ask()
  let isOver = false
  const headers = { authorization: greedy.admin.as }
  const listed = fetch(`${world.url}/v1/orgs/${greedy.orgId}/tokens`, { headers })
    .then(async (answer) => ({ status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }))
    .finally(() => {
      isOver = true
    })
  let answered = 0
  while (!isOver) {
    await ask()
    answered++
  }
  // Parsed only now, because the server runs in this process too.
  const { status, bytes } = await listed
  const body = JSON.parse(bytes.toString()) as { tokens: unknown[]; nextCursor: null }
  expect([status, body.nextCursor, body.tokens.length]).toEqual([200, null, 100_001])
  // The list has more than a hundred pages, and each lets others pass. How long they wait is a figure of `npm run bench`.
  expect(answered).toBeGreaterThan(100)
})
