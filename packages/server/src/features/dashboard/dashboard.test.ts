import fastify from 'fastify'
import { expect, test } from 'vitest'
import { mountDashboard } from './dashboard.ts'

test.each(['/', '/set-up', '/sign-in/link', '/account/keyring', '/orgs/acme/apps'])(
  'without a build, %s says which command to run',
  async (path) => {
    const app = fastify()
    mountDashboard(app, null)
    const { statusCode, headers, body } = await app.inject(path)
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(body).toContain('npm run build')
    await app.close()
  },
)
