import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const systemd = '/lib/systemd/systemd'

/** Its own processes and mounts, and a `/run` of its own, so that it neither sees nor changes the machine. */
const apart = ['-m', '-p', '-f', '-C', '--mount-proc', '--kill-child', '--propagation', 'private']

/** Whether this machine can start a systemd apart from its own: it needs root and the program. */
export const hasSystemd = (): boolean =>
  process.getuid?.() === 0 && existsSync(systemd) && spawnSync('unshare', [...apart, 'true']).status === 0

/** Starts a systemd of its own, with these units, which starts one of them. Returns a function that ends it. */
export async function bootSystemd(
  folder: string,
  units: Record<string, string>,
  wanted: string,
): Promise<() => Promise<void>> {
  const own = join(folder, 'units')
  await mkdir(own)
  const all = { ...units, 'test.target': `[Unit]\nDefaultDependencies=no\nWants=${wanted}\n` }
  for (const [name, text] of Object.entries(all)) await writeFile(join(own, name), text)
  const script = [
    'mount --make-rshared /',
    'mount -t tmpfs tmpfs /run',
    'mkdir -p /run/systemd/system',
    'mount -t cgroup2 none /sys/fs/cgroup',
    `cp ${own}/* /run/systemd/system/`,
    `exec ${systemd} --system --unit=test.target --log-target=null`,
  ].join(' && ')
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', container: 'docker' }
  const child = spawn('unshare', [...apart, 'sh', '-c', script], { env, stdio: 'ignore' })
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  return async () => {
    child.kill('SIGKILL')
    await ended
  }
}
