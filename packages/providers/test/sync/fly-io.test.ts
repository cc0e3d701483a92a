import { expect, it } from 'vitest'
import { open } from '../../src/sync/fly-io.ts'
import { httpFake } from '../http-fake.ts'
import { testOutbound } from '../outbound.ts'
import { syncConformance } from './conformance.ts'
import { flyFake } from './fly-io-fake.ts'

syncConformance('app-platform-c', flyFake)

it('a user’s token is sent as a bearer token, and a macaroon under its own scheme', async () => {
  const seen: (string | undefined)[] = []
  const server = await httpFake(({ headers }) => {
    seen.push(headers.authorization)
    return { status: 200, body: { secrets: [] } }
  })
  const destination = { provider: 'app-platform-c', appName: 'shop' } as const
  for (const credential of ['Bearer fo1_abc', 'fo1_abc', 'flyv1 fm2_abc,fm2_def'])
    await open(
      { config: { provider: 'app-platform-c' }, destination, credential },
      testOutbound({ 'app-platform-c': server.origin }),
    ).list()
  expect(seen).toEqual(['Bearer fo1_abc', 'Bearer fo1_abc', 'FlyV1 fm2_abc,fm2_def'])
  await server.stop()
})
