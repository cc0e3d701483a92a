import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { sha256 } from '../kernel/context.ts'
import { bearerHashOf } from './bearer-hash.ts'

const request = (socket: object, authorization?: string) => ({ headers: { authorization }, socket }) as IncomingMessage

test('each request on a connection is hashed by its own token', () => {
  const connection = {}
  for (const token of ['skt_first', 'skt_first', 'skt_other', 'skt_first'])
    expect(bearerHashOf(request(connection, `Bearer ${token}`)), token).toBe(sha256(token))
})

test('a request without a service token does not get the hash of the request before', () => {
  const connection = {}
  bearerHashOf(request(connection, 'Bearer skt_first'))
  expect(bearerHashOf(request(connection))).toBeUndefined()
  expect(bearerHashOf(request(connection, 'Bearer skc_session'))).toBeUndefined()
  expect(bearerHashOf(request(connection, 'skt_first'))).toBeUndefined()
})
