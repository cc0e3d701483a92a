import { existsSync, globSync, readFileSync } from 'node:fs'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Machine, newMachine } from '../../cli/test/machine.ts'
import { openServer } from '../../cli/test/server.ts'
import { type Block, blocksIn, wordOf } from './blocks.ts'
import { type Scene, scenes, usualScene } from './scenes.ts'

// Every command of the documents, as a reader types it: on a new machine, in front of a real server. The shell blocks of
// a page run in one shell, in their order. A block that cannot run here says so with the word `untried`, which the page
// shows, and one that another suite runs names that suite. operations.long.test.ts runs the blocks of operators.

const root = fileURLToPath(new URL('../../..', import.meta.url))

const documents = globSync(['README.md', 'docs/**/*.md'], { cwd: root })
const pages = documents
  .map((path) => ({ path, blocks: blocksIn(readFileSync(join(root, path), 'utf8')) }))
  .filter(({ blocks }) => blocks.some(({ language }) => language === 'sh'))

/** Words of shell blocks. `serves` starts a program that goes on, and `job` is another machine with a token. */
const known = /^(?:untried|serves|job|stopped|tested=.+|operator=(?:embedded|postgres|both|empty|haproxy))$/

test('each word of a shell block is known, and each suite that one names is there', () => {
  const blocks = pages.flatMap((page) => page.blocks).filter(({ language }) => language === 'sh')
  expect(blocks.length).toBeGreaterThan(60)
  expect(blocks.flatMap(({ words }) => words.filter((word) => !known.test(word)))).toEqual([])
  const suites = blocks.flatMap((block) => wordOf(block, 'tested') ?? [])
  expect(suites.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

const isRun = ({ language, words }: Block) =>
  language === 'sh' && !words.includes('untried') && !words.some((word) => /^(?:tested|operator)=/.test(word))

test.each(pages.filter(({ blocks }) => blocks.some(isRun)))(
  'every command of $path works',
  async ({ path, blocks }) => {
    const server = await openServer()
    const machine = await newMachine(server.url)
    try {
      const scene = scenes[path] ?? usualScene
      await furnish(machine, scene, blocks)
      const script = blocks.filter(isRun).map(shellOf).join('\n')
      const text = [preamble, scene.before, 'TOKEN=$(skerry token create job --app shop --env production 2>/dev/null)']
      const needsToken = blocks.some(({ words }) => words.includes('job'))
      const lines = [...(needsToken ? text : text.slice(0, 2)), script].join('\n')
      const { code, stdout, stderr } = await machine.shell(lines.replaceAll('https://skerry.example.com', server.url))
      expect([code, `${stdout}\n${stderr}`.slice(-3000)]).toEqual([0, expect.any(String)])
    } finally {
      await machine.remove()
      await server.close()
    }
  },
)

/** Puts the files of the page and of its scene into the project, and programs into the PATH. */
async function furnish(machine: Machine, { files = {}, standIns = {} }: Scene, blocks: Block[]): Promise<void> {
  const ofPage = blocks.flatMap((block) => {
    const file = wordOf(block, 'file')
    return file === undefined ? [] : [[file, block.text] as const]
  })
  for (const [name, text] of [...Object.entries(files), ...ofPage]) {
    await mkdir(join(machine.project, dirname(name)), { recursive: true })
    await machine.write(name, text)
  }
  await symlink(join(root, 'node_modules'), join(machine.project, 'node_modules'))
  const vite = `#!/bin/sh\nexec node ${join(root, 'node_modules/vite/bin/vite.js')} "$@"\n`
  for (const [name, text] of Object.entries({ npx: '#!/bin/sh\nexec "$@"\n', vite, ...standIns })) {
    await writeFile(join(machine.home, 'bin', name), text)
    await chmod(join(machine.home, 'bin', name), 0o755)
  }
}

/** `serve` starts a program, waits until it says that it listens, and ends it with all that it started. */
const preamble = `set -e
serve() {
  : > serve.log
  setsid bash -c "$1" > serve.log 2>&1 < /dev/null &
  local pid=$!
  until grep -qE 'listening|listens|Local:' serve.log; do
    kill -0 $pid 2>/dev/null || { cat serve.log >&2; return 1; }
    sleep 0.1
  done
  kill -TERM -$pid; wait $pid 2>/dev/null || true
}
job() {
  mkdir -p "$HOME/job/temp"
  ( cd "$HOME/job"; printf '#!/bin/sh\\ntest -n "$DATABASE_URL"\\n' > deploy.sh; chmod +x deploy.sh
    env HOME="$HOME/job" CI=true SKERRY_TOKEN="$TOKEN" RUNNER_TEMP="$HOME/job/temp" GITHUB_ENV="$HOME/job/env" bash -ec "$1" )
}`

function shellOf({ line, text, words }: Block): string {
  const mark = `echo '== line ${line}' >&2`
  const quoted = `'${text.replaceAll("'", "'\\''")}'`
  if (words.includes('serves')) return `${mark}\nserve ${quoted}`
  if (words.includes('job')) return `${mark}\njob ${quoted}`
  return `${mark}\n${text}`
}
