import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { OutboundError, type OutboundRequest } from '@skerry/providers/outbound'
import { afterEach, expect } from 'vitest'
import type { Address } from '../src/outbound/guard.ts'
import { openOutbound } from '../src/outbound/outbound.ts'

const pem = (name: string) => readFileSync(new URL(`./tls/${name}`, import.meta.url), 'utf8')
const ca = pem('ca.pem')

interface Listening {
  port: number
  /** The number of accepted connections. */
  connections: number
  requests: IncomingMessage[]
}

const hello: RequestListener = (_, response) => response.end('hello')

/** Starts servers on loopback for a suite on outgoing calls. Each is closed after its test. */
export function outboundTargets() {
  const open: { close(): unknown }[] = []
  const closeAll = () => Promise.all(open.splice(0).map((one) => one.close()))
  afterEach(closeAll)

  async function listen(server: Server, host: string, port: number): Promise<Listening> {
    const listening: Listening = { port: 0, connections: 0, requests: [] }
    const sockets = new Set<{ destroy(): void }>()
    server.on('connection', (socket) => {
      listening.connections++
      sockets.add(socket)
      socket.on('error', () => {})
    })
    server.on('request', (request) => listening.requests.push(request))
    await new Promise<void>((done, failed) => server.on('error', failed).listen(port, host, done))
    listening.port = (server.address() as AddressInfo).port
    const close = () =>
      new Promise((done) => {
        server.close(done)
        for (const socket of sockets) socket.destroy()
      })
    open.push({ close })
    return listening
  }

  const http = (answer = hello, host = '127.0.0.1', port = 0) => listen(createServer(answer), host, port)
  const https = (answer = hello) =>
    listen(createTlsServer({ key: pem('target.key'), cert: pem('target.pem') }, answer), '127.0.0.1', 0)
  return { listen, http, https, closeAll }
}

/** A DNS resolver that answers from the table: one address per query, and then the last one again and again. */
export function names(table: Record<string, string[]>) {
  const asked: string[] = []
  const resolve = async (host: string): Promise<Address[]> => {
    const answers = table[host] ?? []
    const address = answers.length > 1 ? answers.shift() : answers[0]
    asked.push(host)
    return address === undefined ? [] : [{ address, family: address.includes(':') ? 6 : 4 }]
  }
  return { asked, resolve }
}

export const now = () => new Date('2026-01-01T00:00:00Z')
export const loopback = ['127.0.0.0/8', '::1']
export const opened = (privateTargets: string[], more: Partial<Parameters<typeof openOutbound>[1]> = {}) =>
  openOutbound({ privateTargets, providerOrigins: {} }, { now, ca, ...more })
export const get = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url,
  ...more,
})

export async function failure(promise: Promise<unknown>): Promise<OutboundError> {
  const error = await promise.then(
    (value) => new Error(`was answered: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(OutboundError)
  return error as OutboundError
}
