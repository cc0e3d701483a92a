import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
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

/** A request whose head the server has seen and whose body is still to come. */
async function begin(): Promise<{ socket: Socket; received: () => string }> {
  world = await openWorld()
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.write(head)
  await once(socket, 'data')
  expect(received).toMatch(/^HTTP\/1\.1 100 /)
  return { socket, received: () => received }
}

test('closing finishes what is under way, and takes nothing new', async () => {
  const { socket, received } = await begin()
  const ended = once(socket, 'close')
  const closed = world.server.close()
  await expect.poll(() => world.server.app.server.listening).toBe(false)
  await expect(fetch(`${world.url}/health`)).rejects.toThrow()
  socket.write(body)
  await Promise.all([closed, ended])
  expect(received()).toMatch(/HTTP\/1\.1 201 /)
})

test('closing gives up on what does not come to an end', async () => {
  const { socket, received } = await begin()
  const ended = once(socket, 'close')
  await closeWhenIdle(world.server.app, 1)
  await ended
  expect(received()).not.toMatch(/ 201 /)
})
