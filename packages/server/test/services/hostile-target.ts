import { connect, type Socket } from 'node:net'
import { openSocketServer } from './socket-server.ts'

/** A lease target that sends whatever a test wants. Without an attack it forwards to a real server, if there is one. */
export interface HostileTarget {
  port: number
  /** The number of accepted connections. */
  readonly connections: number
  /** From now on this attack answers each connection. Null: the real server answers again. */
  attack(how: Attack | null): void
  close(): Promise<void>
}

export type Attack = (socket: Socket) => void

/** Sends these bytes as soon as the client has sent anything, and leaves the connection open. */
export const bytes =
  (hex: string): Attack =>
  (socket) =>
    socket.once('data', () => socket.write(Buffer.from(hex.replaceAll(' ', ''), 'hex')))

/** Sends a beginning once the client has sent anything, and then the same piece until the connection is closed. */
export const endless =
  (start: string | Buffer, piece: Buffer): Attack =>
  (socket) =>
    socket.once('data', () => pour(socket, start, piece))

/** Does the same at once, for a protocol in which the server sends first. */
export function pour(socket: Socket, start: string | Buffer, piece: Buffer): void {
  const go = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', go)
  }
  socket.write(start)
  go()
}

export async function openHostileTarget(realPort?: number): Promise<HostileTarget> {
  let attack: Attack | null = null
  let connections = 0
  const server = await openSocketServer((socket, { keep }) => {
    connections++
    if (attack !== null) return attack(socket)
    if (realPort === undefined) return socket.destroy()
    const real = connect(realPort, '127.0.0.1')
    keep(real)
    socket.pipe(real).pipe(socket)
    socket.once('close', () => real.destroy())
  })
  return {
    port: server.port,
    get connections() {
      return connections
    },
    attack(how) {
      attack = how
      server.endConnections()
    },
    close: server.close,
  }
}
