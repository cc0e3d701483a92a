import { randomBytes } from 'node:crypto'
import { assertSame, get, type Sent } from '../answer.ts'
import { startFlags, startFloor } from '../child.ts'
import { type BenchOnPostgres, onDatabase } from '../figure.ts'
import { compare } from '../measure.ts'
import { makeTenant, request, usualSecrets } from '../tenant.ts'

/** The rate of cached resolves with authentication, divided by the rate without. */
export async function authShare(bench: BenchOnPostgres): Promise<number> {
  const settings = {
    ...onDatabase(await bench.postgres.createDatabase('auth_share')),
    SKERRY_SERVER_KEY: randomBytes(32).toString('base64url'),
    SKERRY_RATE_LIMITS: 'off',
  }
  await using server = await startFloor('unauthenticated', { settings }, startFlags)
  const { environmentId, member } = await makeTenant(server.url, usualSecrets)
  const paths = ['resolve', 'unauthenticated'].map((name) => `/v1/${name}?env=${environmentId}`)
  const [ours, floor] = await Promise.all(paths.map((path) => get(server.url + path, member.bearer)))
  assertSame(ours as Sent, floor as Sent)
  const [withToken, without] = paths.map((path) => [request('GET', path, member.bearer)])
  const { perSecond } = await compare(
    bench,
    { name: 'with authentication', requests: withToken as string[], server },
    { name: 'without', requests: without as string[], server },
  )
  return perSecond
}
