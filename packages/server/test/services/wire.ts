import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy between server and database that counts writes, and that a test can silence and cut. */
export interface Wire {
  url: string
  /** The number of writes by the client since the last call: one per round trip that it started. */
  countWrites(): number
  /** Drops every answer of the database from now on, and breaks the connection at its next answer. */
  cutAtNextAnswer(): void
  /** Breaks every open connection in both directions. New connections work. */
  cut(): void
  /** Sets a hook that runs before each new connection is passed on. If it throws, the connection is cut. */
  onConnect(hook: (() => Promise<void>) | null): void
  /** Drops everything in both directions, without closing a connection. */
  fallSilent(): void
  /** Does the same for the connections that are open now. New connections work. */
  silenceOpen(): void
  /** Sends new connections to another database. Open connections stay where they are. */
  leadTo(url: string): void
  close(): Promise<void>
}

export async function openWire(url: string): Promise<Wire> {
  let target = new URL(url)
  const sockets = new Set<Socket>()
  const silenced = new WeakSet<Socket>()
  let mode: 'open' | 'cutting' | 'silent' = 'open'
  let writes = 0
  let hook: (() => Promise<void>) | null = null
  const server = createServer({ pauseOnConnect: true }, async (client) => {
    client.on('error', () => {})
    try {
      await hook?.()
    } catch {
      client.destroy()
      return
    }
    const database = connect(Number(target.port), target.hostname)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
    }
    client.on('data', (chunk) => {
      writes++
      if (mode !== 'silent' && !silenced.has(client)) database.write(chunk)
    })
    database.on('data', (chunk) => {
      if (silenced.has(client)) return
      if (mode === 'open') client.write(chunk)
      else if (mode === 'cutting') client.resetAndDestroy()
    })
    client.resume()
    client.on('close', () => database.end())
    database.on('close', () => {
      if (!silenced.has(client)) client.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('No port')
  const own = new URL(url)
  own.port = String(address.port)
  return {
    url: own.href,
    countWrites() {
      const counted = writes
      writes = 0
      return counted
    },
    cutAtNextAnswer() {
      mode = 'cutting'
    },
    cut() {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    onConnect(next) {
      hook = next
    },
    fallSilent() {
      mode = 'silent'
    },
    silenceOpen() {
      for (const socket of sockets) silenced.add(socket)
    },
    leadTo(url) {
      target = new URL(url)
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
