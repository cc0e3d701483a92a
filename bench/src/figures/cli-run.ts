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
  buildCommand()
  await using server = await startServer({})
  // Awaited here, because the server ends with this function.
  return await onMachine({ SKERRY_URL: server.url }, (node) => {
    node([main, 'signup', 'Bench'])
    node([main, 'init'])
    for (let i = 0; i < 20; i++) node([main, 'secrets', 'set', `SECRET_${i}`], `value ${i}`)
    return compare(node, [main, 'run', '--', 'true'], plan.rounds, 'skerry run').ratio
  })
}

/** The time of `skerry --help` in milliseconds, on a machine on which it has run before. */
export async function cliHelp({ plan }: Bench): Promise<number> {
  buildCommand()
  return onMachine({}, (node) => compare(node, [main, '--help'], plan.rounds, 'skerry --help').oursMs)
}

/** Builds the command, as `npm start` does. */
const buildCommand = () => execFileSync(process.execPath, [path('scripts/build.ts'), 'command'])

/** Runs Node to its end, and returns the milliseconds that it took. */
type RunNode = (args: string[], input?: string) => number

/** Works in a project folder of a home of its own. */
async function onMachine(more: Record<string, string>, work: (node: RunNode) => number): Promise<number> {
  const home = await mkdtemp(join(tmpdir(), 'skerry-bench-'))
  try {
    const project = join(home, 'shop')
    await mkdir(project)
    const machine = { cwd: project, env: { HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin', ...more } }
    return work((args, input = '') => {
      const startedAt = performance.now()
      const { status, stderr } = spawnSync(process.execPath, args, { ...machine, input, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
      return performance.now() - startedAt
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

function compare(node: RunNode, args: string[], rounds: number, name: string) {
  const ours = () => node(args)
  const floor = () => node(['-e', '0'])
  for (let i = 0; i < 3; i++) [ours(), floor()]
  const times = Array.from({ length: rounds }, () => ({ floor: floor(), ours: ours() }))
  const oursMs = median(times.map((round) => round.ours))
  const floorMs = median(times.map((round) => round.floor))
  say(`  ${name} ${oursMs.toFixed(0)} ms; node ${floorMs.toFixed(0)} ms`)
  return { oursMs, ratio: oursMs / floorMs }
}
