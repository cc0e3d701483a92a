import Fastify, { type FastifyInstance } from 'fastify'
import { expect, test } from 'vitest'
import type { Context } from './context.ts'
import { mountRaw, raw } from './raw.ts'

const mounting = (mount: (app: FastifyInstance) => void) => () =>
  mountRaw(Fastify(), {} as Context, [raw(['/files/*'], 'files', mount)])
const answer = async () => ''

test.each<[string, (app: FastifyInstance) => void]>([
  ['POST /files/a', (app) => app.post('/files/a', answer)],
  ['GET /other', (app) => app.get('/other', answer)],
  ['DELETE,GET /files/a', (app) => app.route({ method: ['DELETE', 'GET'], url: '/files/a', handler: answer })],
])('a server does not start with %s, because no raw route lists it', (route, mount) => {
  expect(mounting(mount)).toThrow(`${route} is in no list of raw routes`)
})

test('a raw route can mount the paths and method that it lists, and answers HEAD where it answers GET', async () => {
  const app = Fastify()
  const files = raw(['/files/*'], 'files', (app) => app.get('/files/a', answer))
  const hook = raw(['/hook'], 'a hook', (app) => app.post('/hook', answer), 'POST')
  mountRaw(app, {} as Context, [files, hook])
  const statusOf = async (method: 'GET' | 'HEAD' | 'POST', url: string) =>
    (await app.inject({ method, url })).statusCode
  expect([await statusOf('GET', '/files/a'), await statusOf('HEAD', '/files/a')]).toEqual([200, 200])
  expect([await statusOf('POST', '/hook'), await statusOf('GET', '/hook')]).toEqual([200, 404])
})
