import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { afterEach, expect, test } from 'vitest'
import { newApp, newEnv, signUp } from '../../test/tenant.ts'
import { longMs } from '../../test/wait-limits.ts'
import { openWorld, type World } from '../../test/world.ts'
import { closeWhenIdle } from './close.ts'

let world: World
afterEach(() => world.close())

const body = JSON.stringify({ orgName: 'Acme', orgSlug: 'acme' })
const head = [
  'POST /v1/signup HTTP/1.1',
  'host: skerry',
  'content-type: application/json',
  `content-length: ${body.length}`,
  'expect: 100-continue',
  '',
  '',
].join('\r\n')

interface Connection {
  socket: Socket
  received: () => string
}

async function open(): Promise<Connection> {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  await once(socket, 'connect')
  return { socket, received: () => received }
}

/** Sends a request whose head the server has read, and whose body is still missing. */
async function begin(): Promise<Connection> {
  world = await openWorld()
  const { socket, received } = await open()
  socket.write(head)
  await once(socket, 'data')
  expect(received()).toMatch(/^HTTP\/1\.1 100 /)
  return { socket, received }
}

test('a closing server finishes running requests, and accepts no new ones', async () => {
  const { socket, received } = await begin()
  const ended = once(socket, 'close')
  const closed = closeWhenIdle(world.server.app, longMs)
  await expect.poll(() => world.server.app.server.listening).toBe(false)
  await expect(fetch(`${world.url}/health`)).rejects.toThrow()
  socket.write(body)
  await Promise.all([closed, ended])
  expect(received()).toMatch(/HTTP\/1\.1 201 /)
})

test('a closing server aborts a request that does not end in time', async () => {
  const { socket, received } = await begin()
  const ended = once(socket, 'close')
  await closeWhenIdle(world.server.app, 1)
  await ended
  expect(received()).not.toMatch(/ 201 /)
})

test('a closing server closes a connection after its answer, also if the answer comes from memory', async () => {
  world = await openWorld()
  const tenant = await signUp(world)
  const env = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  const { as } = tenant.admin
  const request = `GET /v1/resolve?env=${env} HTTP/1.1\r\nhost: skerry\r\nauthorization: ${as}\r\n`
  expect((await world.call(resolve.get, { as, query: { env } })).status).toBe(200)
  const { socket, received } = await open()
  socket.write(`${request}\r\n${request}`)
  await once(socket, 'data')
  expect(received()).toMatch(/^HTTP\/1\.1 200 .*connection: keep-alive/is)
  const ended = once(socket, 'close')
  const closed = closeWhenIdle(world.server.app, longMs)
  await expect.poll(() => world.server.app.server.listening).toBe(false)
  socket.write('\r\n')
  await Promise.all([closed, ended])
  expect(received().match(/HTTP\/1\.1 200 /g)).toHaveLength(2)
  expect(received()).toMatch(/connection: close/i)
})
