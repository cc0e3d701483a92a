import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../server/test/services/free-port.ts'
import { type Issuer, startIssuer } from '../../server/test/services/issuer.ts'

/** The honest server behind the hostile one, with a new embedded database, and the issuer with which people sign in. */
export interface Honest {
  url: string
  issuer: Issuer
  close(): Promise<void>
}

const main = fileURLToPath(new URL('../../server/src/main.js', import.meta.url))

export async function openHonest(): Promise<Honest> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-hostile-'))
  const issuer = await startIssuer(() => new Date())
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      SKERRY_DATA_DIR: join(folder, 'data'),
      SKERRY_PORT: String(await freePort()),
      SKERRY_RATE_LIMITS: 'off',
      SKERRY_OIDC_ISSUER: issuer.url,
      SKERRY_OIDC_AUDIENCE: issuer.audience,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return {
    url: await addressOf(child),
    issuer,
    close: async () => {
      const exited = new Promise((done) => child.once('exit', done))
      child.kill('SIGTERM')
      await exited
      await issuer.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /listens on (http:\/\/[^" ]+)/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout!.resume()
    return url
  }
  throw new Error('the server ended before it listened')
}
