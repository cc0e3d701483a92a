import { main } from '../program.ts'

// The entry of the single executable (scripts/package/executable.ts), which is this command and its Node in one file. A
// command that starts a program of `src` starts the executable again, with the path of that program as first argument.

const programs: Readonly<Record<string, () => Promise<unknown>>> = {
  'keyring/agent-process.js': () => import('../keyring/agent.ts'),
  'provisioner/adapter-process.js': () => import('../provisioner/adapters.ts'),
  'proxy/sandbox/relay.js': () => import('../proxy/sandbox/relay.js'),
  'run/guard.js': () => import('../run/guard.js'),
  'main.js': run,
}

/** The paths of `programs`, as `ownFile` returns them in the executable. No such folder exists. */
const folder = '/skerry/packages/cli/src/'

const [, , path = ''] = process.argv
const program = path.startsWith(folder) ? programs[path.slice(folder.length)] : undefined
// Node puts the path of the executable first twice. A program expects its own path at the second place.
if (program) process.argv.splice(1, 1)
void (program ?? run)()

async function run() {
  process.exitCode = await main(process.argv.slice(2))
}
