import type { Server } from 'node:http'
import { networkOf } from '../kernel/network.ts'
import type { Context } from './context.ts'
import { openTrustedProxies } from './forwarded.ts'

/**
 * Closes connections of an address, or of an IPv6 /64 network, beyond its limit. Each connection costs memory, and one
 * caller with tens of thousands would use all of it. A trusted proxy serves many callers, and has no limit.
 */
export function boundConnections(server: Server, { config }: Context): void {
  const open = new Map<string, number>()
  const proxies = openTrustedProxies(config)
  server.on('connection', (socket) => {
    const address = socket.remoteAddress
    if (address === undefined || proxies.has(address)) return
    const caller = networkOf(address)
    const count = (open.get(caller) ?? 0) + 1
    if (count > config.connectionsPerAddress) return void socket.destroy()
    open.set(caller, count)
    socket.once('close', () => {
      const left = (open.get(caller) ?? 0) - 1
      if (left > 0) open.set(caller, left)
      else open.delete(caller)
    })
  })
}
