import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { connectSite } from './person.ts'
import { kill9, launch } from './process.ts'
import { backend, openScene } from './scene.ts'
import { profileOf, startSite } from './site.ts'

const scene = await openScene()
const site = await startSite(scene.world.clock.now)
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  browser: { sandbox: false },
  sites: [profileOf(site)],
})
await scene.command('register', '--server', scene.world.url, '--code', await scene.code())

/** The processes whose command line contains this folder. */
async function processesIn(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(folder))
}

const isLinux = process.platform === 'linux'

test.skipIf(!isLinux)(
  'kill -9 of the executor ends its browsers, and the next start removes their profiles',
  async () => {
    let child = await launch(scene)
    afterAll(() => kill9(child))
    const connectionId = await connectSite(scene, site)
    const { status } = await backend(scene, '/v1/browser/open', { userRef: 'user-1', connectionId })
    const profiles = join(scene.state, 'browsers')
    expect([status, await readdir(profiles)]).toEqual([201, [expect.stringMatching(/^vls_/)]])
    expect(await processesIn(profiles)).not.toEqual([])
    await kill9(child)
    await expect.poll(() => processesIn(profiles)).toEqual([])
    child = await launch(scene)
    await expect(readdir(profiles)).rejects.toThrow('ENOENT')
    const again = await backend(scene, '/v1/browser/open', { userRef: 'user-1', connectionId })
    expect([again.status, again.body.signedIn]).toEqual([201, true])
    // A regular end of the executor also ends its browsers.
    child.kill('SIGTERM')
    await expect.poll(() => [child.exitCode, child.signalCode]).toEqual([0, null])
    expect([await processesIn(profiles), await readdir(profiles)]).toEqual([[], []])
  },
)
