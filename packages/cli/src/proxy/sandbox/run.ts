import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import type { Config } from '@skerry/proxy/config/config'
import type { RunningProxy } from '@skerry/proxy/start'
import { both } from '@skerry/proxy/websocket'
import { Failure } from '../../failure.ts'
import { makePrivateFolder } from '../../files.ts'
import { cacheFolder, configFolder, stateFolder } from '../../folders.js'
import { privateFolder } from '../../leases/private-folder.ts'
import { ownFile } from '../../own-file.ts'
import { type Ending, onSignals, startFailure } from '../../run/child.ts'
import type { ChildEnvironment } from '../child-environment.ts'
import { bubblewrapArguments } from './bubblewrap.ts'
import { keyringFilter } from './keyring-filter.ts'

const relay = ownFile('proxy/sandbox/relay.js')

/** A place that is listened on inside as outside, and the socket file between. */
interface Bridge {
  listen: { host: string; port: number; path: string }
  close: () => void
}

export interface Sandboxed {
  /** Of `bwrap`. */
  bubblewrap: string
  /** The program, and what it is called and given. */
  file: string
  argv: string[]
  proxy: RunningProxy
  config: Config
  /** The settings file; a program that changes it would be permitted more the next time. */
  settings: string | undefined
  childEnvironment: ChildEnvironment
}

/** Runs a program that reaches the proxy and nothing else, and that sees neither this command's files nor its processes. */
export async function runSandboxed(sandboxed: Sandboxed): Promise<Ending> {
  const { bubblewrap, file, argv, proxy, config, settings, childEnvironment } = sandboxed
  const { paths, remove } = await privateFolder(new Map([['filter', keyringFilter()]]))
  const folder = dirname(paths.filter!)
  // Without the control listener: a program must not approve what it sends itself.
  const bridges = await Promise.all(
    [proxy.forward, proxy.reverse].filter((url) => url !== undefined).map((url) => openBridge(url, folder)),
  )
  try {
    const view = {
      cwd: process.cwd(),
      readable: [
        process.execPath,
        relay,
        folder,
        ...childEnvironment.folders,
        ...(settings === undefined ? [] : [settings]),
      ],
      hidden: hiddenFor(config),
    }
    const args = [...bubblewrapArguments(view), '--seccomp', String(filterAt), '--', process.execPath, relay]
    const start = { listen: bridges.map(({ listen }) => listen), file, argv }
    return await untilEnded(bubblewrap, args, { env: childEnvironment.env, filter: paths.filter!, start })
  } finally {
    for (const { close } of bridges) close()
    remove()
  }
}

/** Folders that are not there are made: one that came into being later would be seen. */
function hiddenFor({ cache, control, forward }: Config) {
  const folders = [configFolder(), stateFolder(), cacheFolder(), ...(cache.dir === null ? [] : [cache.dir])]
  for (const folder of folders) makePrivateFolder(folder)
  const files = [forward?.caKey, control?.socket, process.env.SKERRY_PASSPHRASE_FILE]
  return { folders, files: files.filter((path) => typeof path === 'string') }
}

async function openBridge(url: string, folder: string): Promise<Bridge> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const path = join(folder, port)
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    both(socket, connect({ host, port: Number(port), allowHalfOpen: true }))
  })
  await new Promise<void>((done, fail) => server.on('error', fail).listen(path, done))
  return { listen: { host, port: Number(port), path }, close: () => server.close() }
}

/** Where the filter stands among the program's open files: after the standard streams and the channel. */
const filterAt = 4

interface Starting {
  env: Record<string, string>
  filter: string
  /** What the relay is told. */
  start: { listen: Bridge['listen'][]; file: string; argv: string[] }
}

/** What the relay tells. */
interface Told {
  failed?: string
  ended?: Ending
}

async function untilEnded(bubblewrap: string, args: string[], { env, filter, start }: Starting): Promise<Ending> {
  const opened = openSync(filter, 'r')
  // A terminal's signals would end `bwrap`, and with it the program, before that could do anything about them.
  const child = spawn(bubblewrap, args, {
    env,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', opened],
    detached: true,
  })
  closeSync(opened)
  const stopListening = onSignals((signal) => child.connected && child.send({ signal }))
  try {
    return await new Promise<Ending>((done, fail) => {
      child.on('error', fail)
      child.on('message', ({ failed, ended }: Told) =>
        ended ? done(ended) : fail(startFailure(start.file, { code: failed })),
      )
      child.on('disconnect', () => fail(new Failure('failure', 'the sandbox ended before the program')))
      child.send({ start })
    })
  } finally {
    stopListening()
  }
}
