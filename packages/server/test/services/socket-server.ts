import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A TCP server on loopback that ends every connection when it closes. */
export interface SocketServer {
  port: number
  /** Adds a socket to those that are ended with the server's connections. */
  keep(socket: Socket): void
  endConnections(): void
  close(): Promise<void>
}

export async function openSocketServer(take: (socket: Socket, server: SocketServer) => void): Promise<SocketServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    opened.keep(socket)
    take(socket, opened)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const opened: SocketServer = {
    port: (server.address() as AddressInfo).port,
    keep(socket) {
      sockets.add(socket)
      socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    },
    endConnections() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      opened.endConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return opened
}
