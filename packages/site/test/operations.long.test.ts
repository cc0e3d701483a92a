import { globSync, readFileSync } from 'node:fs'
import { chmod, cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { type Machine, newMachine } from '../../cli/test/machine.ts'
import { freePort } from '../../server/test/services/free-port.ts'
import { missingHaproxy } from '../../server/test/services/haproxy.ts'
import { missingPostgres, startPostgres } from '../../server/test/services/postgres.ts'
import { type Block, blocksIn, wordOf } from './blocks.ts'

// The commands of operators, on a machine that runs the server itself. A block says on which database it runs with
// `operator=embedded`, `postgres` or `both`. Before a `stopped` block the operator stops the servers.

const root = fileURLToPath(new URL('../../..', import.meta.url))

const pages = globSync('docs/operations/*.md', { cwd: root })
  .map((path) => ({ path, blocks: blocksIn(readFileSync(join(root, path), 'utf8')) }))
  .filter(({ blocks }) => blocks.some((block) => wordOf(block, 'operator')))

const on = (block: Block, engine: string) => [engine, 'both'].includes(wordOf(block, 'operator') ?? '')

const runs = pages.flatMap(({ path, blocks }) =>
  ['embedded', 'postgres', 'empty']
    .map((engine) => ({ path, engine, blocks: blocks.filter((block) => on(block, engine)) }))
    .filter((run) => run.blocks.some((block) => wordOf(block, 'operator') === run.engine)),
)

describe.skipIf(missingPostgres())('an operator', () => {
  test.each(runs)('types the commands of $path on $engine', async ({ engine, blocks }) => {
    const postgres = await startPostgres({ fsync: false })
    if (!postgres) throw new Error('PostgreSQL is missing')
    const machine = await newOperator()
    try {
      const base = postgres.url.replace(/\/postgres$/, '/')
      await postgres.createDatabase('skerry')
      const env = engine === 'postgres' ? await onPostgres(`${base}skerry`) : {}
      const [port, drill, other] = [await freePort(), await freePort(), await freePort()]
      Object.assign(machine.env, env, { SKERRY_PORT: String(port), SKERRY_URL: `http://127.0.0.1:${port}` })
      const start = engine === 'empty' ? '' : prepare
      const script = [preamble, start, ...blocks.map(shellOf), 'until_ready; stop_servers']
        .join('\n')
        .replaceAll('postgres://skerry@db.internal/', base)
        .replaceAll(/4710|4702/g, String(drill))
        .replaceAll('4701', String(other))
        .replaceAll('https://skerry.example.com', engine === 'empty' ? '' : `http://127.0.0.1:${port}`)
      const { code, stdout, stderr } = await machine.shell(script)
      expect([code, `${stdout}\n${stderr}`.slice(-4000)]).toEqual([0, expect.any(String)])
    } finally {
      await machine.shell(`${preamble}\nstop_servers`)
      await machine.remove()
      await postgres.dispose()
    }
  })
})

test.skipIf(missingHaproxy())('HAProxy accepts the file of the page', async () => {
  const [{ blocks } = { blocks: [] }] = pages.filter(({ path }) => path.endsWith('reverse-proxy.md'))
  const machine = await newMachine('http://127.0.0.1:1')
  const file = blocks.find((block) => wordOf(block, 'file') === 'haproxy.cfg')
  const command = blocks.find((block) => wordOf(block, 'operator') === 'haproxy')
  await machine.write('haproxy.cfg', file?.text ?? '')
  const { code, stderr } = await machine.shell(`PATH=$PATH:/usr/sbin; ${command?.text}`)
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('ALERT')])
  await machine.remove()
})

/** A machine with a data directory that no server has used, and programs that start the server of this checkout. */
async function newOperator(): Promise<Machine> {
  const machine = await newMachine('')
  await cp(join(inject('templateDir'), 'postgres'), join(machine.project, '.skerry/postgres'), { recursive: true })
  await symlink(join(root, 'node_modules'), join(machine.project, 'node_modules'))
  const server = join(root, 'packages/server/src')
  const programs = {
    'skerry-server': `#!/bin/bash
[ "$1" = start ] || exec node ${server}/operator/main.js "$@"
echo $$ >> "$HOME/servers"
echo "\${SKERRY_PORT}" >> "$HOME/ports"
exec node ${server}/main.js >> "$HOME/server.log" 2>&1
`,
  }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(machine.home, 'bin', name), text)
    await chmod(join(machine.home, 'bin', name), 0o755)
  }
  return machine
}

const onPostgres = async (url: string) => ({
  SKERRY_DATABASE_URL: url,
  SKERRY_SERVER_KEY: Buffer.alloc(32, 7).toString('base64url'),
})

const prepare = `skerry-server start &
until_ready
skerry signup Acme && skerry init --app shop
echo -n postgres://db/shop | skerry secrets set DATABASE_URL --env production`

/** `until_ready` waits for every server that was started, and fails with its log if one has ended. */
const preamble = `set -e
touch "$HOME/servers" "$HOME/ports" "$HOME/server.log"
until_ready() {
  wait_for_start
  for port in $(cat "$HOME/ports"); do
    until curl --fail --silent "http://127.0.0.1:$port/ready" > "$HOME/ready"; do
      for pid in $(cat "$HOME/servers"); do kill -0 $pid || { cat "$HOME/server.log" >&2; return 1; }; done
      sleep 0.1
    done
  done
}
wait_for_start() { until [ "$(wc -l < "$HOME/servers")" -ge "$(jobs -p | wc -l)" ]; do sleep 0.1; done; }
stop_servers() {
  for pid in $(cat "$HOME/servers"); do kill -TERM $pid 2>/dev/null || true; done
  wait || true
  : > "$HOME/servers"; : > "$HOME/ports"
}`

function shellOf(block: Block): string {
  const mark = `echo '== line ${block.line}' >&2`
  const before = block.words.includes('stopped') ? 'stop_servers' : 'until_ready'
  return `${before}\n${mark}\n${block.text}`
}
