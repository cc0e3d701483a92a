import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../child.ts'
import type { Bench } from '../figure.ts'
import { median, say } from '../measure.ts'

const main = fileURLToPath(new URL('../../../packages/cli/src/main.js', import.meta.url))
const megabyte = 1024 * 1024

/** The time of OpenSSL (encryption) plus sha256sum (integrity) for 1 GiB, divided by that of `skerry kms encrypt`. */
export async function kmsEncrypt({ plan }: Bench): Promise<number> {
  await using server = await startServer({})
  const home = await mkdtemp(join(tmpdir(), 'skerry-bench-'))
  try {
    const [plain, sealed] = [join(home, 'plain'), join(home, 'sealed')]
    await write(plain, 1024)
    const machine = { cwd: home, env: { HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin', SKERRY_URL: server.url } }
    const run = (file: string, args: string[]) => {
      const startedAt = performance.now()
      const { status, stderr } = spawnSync(file, args, { ...machine, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ${stderr}`)
      return performance.now() - startedAt
    }
    run(process.execPath, [main, 'signup', 'Bench'])
    run(process.execPath, [main, 'kms', 'create', 'bench'])
    const ours = () => run(process.execPath, [main, 'kms', 'encrypt', 'bench', '--file', plain, '--out', sealed])
    const key = ['-K', randomBytes(32).toString('hex'), '-iv', randomBytes(16).toString('hex')]
    // `sync` writes the file to the disk, as `skerry kms encrypt` does before it ends.
    const floor = () =>
      run('openssl', ['enc', '-aes-256-ctr', ...key, '-in', plain, '-out', sealed]) +
      run('sync', [sealed]) +
      run('sha256sum', [plain])
    const rounds = Array.from({ length: Math.min(5, plan.rounds) }, () => ({ floor: floor(), ours: ours() }))
    const [theirs, own] = [median(rounds.map((round) => round.floor)), median(rounds.map((round) => round.ours))]
    say(`  skerry kms encrypt ${own.toFixed(0)} ms; openssl and sha256sum ${theirs.toFixed(0)} ms`)
    return theirs / own
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

async function write(path: string, megabytes: number): Promise<void> {
  const file = await open(path, 'w')
  for (let i = 0; i < megabytes; i++) await file.writev([randomBytes(megabyte)])
  await file.close()
}
