import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Entry, type Lockfile, nameAt } from './lockfile.ts'

/**
 * A registry for tests, which has what is installed in a checkout and nothing else. A package that a release forgot to
 * declare, or in another version than that of the lockfile, is not found.
 */
export async function openRegistry(root: string, lockfile: Lockfile): Promise<{ url: string; close: () => void }> {
  const paths = Object.keys(lockfile).filter((path) => path.includes('node_modules/') && !lockfile[path]?.link)
  const byName = Object.groupBy(paths, nameAt)
  const server: Server = createServer(({ url: asked = '', headers: { host } }, response) => {
    const path = decodeURIComponent(asked.slice(1))
    if (path.startsWith('-/')) return sendTar(join(root, path.slice(2)), response)
    const versions = (byName[path] ?? []).map((at) => describe(path, lockfile[at] ?? {}, `http://${host}/-/${at}`))
    if (versions.length === 0) return response.writeHead(404).end()
    const text = JSON.stringify({
      name: path,
      'dist-tags': { latest: versions[0]?.version },
      versions: Object.fromEntries(versions.map((one) => [one.version, one])),
    })
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close }
}

const describe = (name: string, { link: _, resolved: __, integrity: ___, ...entry }: Entry, tarball: string) => ({
  ...entry,
  name,
  version: entry.version ?? '',
  dist: { tarball },
})

/** npm reads an archive that is not compressed too. */
function sendTar(folder: string, response: ServerResponse): void {
  const args = ['-cf', '-', '-C', folder, '--exclude=./node_modules', '--transform=s,^[.],package,', '.']
  const tar = spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  tar.stdout.pipe(response)
}
