import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

const waitMs = 15_000

/**
 * Opens a link that signs somebody in, without the link in a command line. All users of a machine can read the
 * arguments of a browser that starts. So the browser gets an address of this process, which sends it on, once, and only
 * if the browser belongs to this user.
 *
 * @param open starts the browser.
 * @returns whether a browser came for the link.
 */
export async function openOnce(link: string, open: (address: string) => Promise<void>): Promise<boolean> {
  const path = `/${randomBytes(32).toString('base64url')}`
  const server = createServer()
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done))
  try {
    const fetched = handOver(server, path, link)
    await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
    return await fetched
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

function handOver(server: Server, path: string, link: string): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(false), waitMs)
    server.on('request', ({ method, url, socket }, response) => {
      if (method !== 'GET' || url !== path || !isOwn(socket)) return response.writeHead(404).end()
      server.removeAllListeners('request').on('request', (_, late) => late.writeHead(404).end())
      response.writeHead(303, { location: link, 'cache-control': 'no-store', connection: 'close' })
      response.end(() => {
        clearTimeout(timer)
        done(true)
      })
    })
  })
}

/** Linux says whose the other end of a connection is. Elsewhere the random path alone protects the link. */
function isOwn({ remotePort, localPort }: Socket): boolean {
  if (process.platform !== 'linux') return true
  const from = `0100007F:${hex(remotePort)}`
  const to = `0100007F:${hex(localPort)}`
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  const row = rows.find(([, local, remote]) => local === from && remote === to)
  return row?.[7] === String(process.getuid?.())
}

const hex = (port: number | undefined) => (port ?? 0).toString(16).toUpperCase().padStart(4, '0')
