import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../child.ts'
import type { Bench } from '../figure.ts'
import { median, say } from '../measure.ts'

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))
const main = path('packages/cli/src/main.js')

/** The time of `skerry run -- true`, divided by the time of Node alone, on a machine on which it has run before. */
export async function cliRun({ plan }: Bench): Promise<number> {
  // Builds the command, as `npm start` does.
  execFileSync(process.execPath, [path('scripts/build.ts'), 'command'])
  await using server = await startServer({})
  const home = await mkdtemp(join(tmpdir(), 'skerry-bench-'))
  try {
    const project = join(home, 'shop')
    await mkdir(project)
    const machine = { cwd: project, env: { HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin', SKERRY_URL: server.url } }
    const node = (args: string[], input = '') => {
      const startedAt = performance.now()
      const { status, stderr } = spawnSync(process.execPath, args, { ...machine, input, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
      return performance.now() - startedAt
    }
    node([main, 'signup', 'Bench'])
    node([main, 'init'])
    for (let i = 0; i < 20; i++) node([main, 'secrets', 'set', `SECRET_${i}`], `value ${i}`)
    const run = () => node([main, 'run', '--', 'true'])
    const floor = () => node(['-e', '0'])
    for (let i = 0; i < 3; i++) [run(), floor()]
    const rounds = Array.from({ length: plan.rounds }, () => ({ floor: floor(), ours: run() }))
    const ours = median(rounds.map((round) => round.ours))
    const theirs = median(rounds.map((round) => round.floor))
    say(`  skerry run ${ours.toFixed(0)} ms; node ${theirs.toFixed(0)} ms`)
    return ours / theirs
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}
