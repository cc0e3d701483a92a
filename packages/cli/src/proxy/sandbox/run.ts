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
import { fileVariables } from '../../variables.ts'
import type { ChildEnvironment } from '../child-environment.ts'
import { bubblewrapArguments } from './bubblewrap.ts'
import { keyringFilter } from './keyring-filter.ts'

const relay = ownFile('proxy/sandbox/relay.js')

/** Connects an address inside the sandbox to the same address outside, through a socket file. */
interface Bridge {
  listen: { host: string; port: number; path: string }
  close: () => void
}

export interface Sandboxed {
  /** The path of `bwrap`. */
  bubblewrap: string
  /** The program; `argv` has its name and its arguments. */
  file: string
  argv: string[]
  proxy: RunningProxy
  config: Config
  /** The settings file. A program that could change it would permit itself more the next time. */
  settings: string | undefined
  childEnvironment: ChildEnvironment
}

/** Runs a program that can reach only the proxy, and that sees neither this command's files nor its processes. */
export async function runSandboxed(sandboxed: Sandboxed): Promise<Ending> {
  const { bubblewrap, file, argv, proxy, config, settings, childEnvironment } = sandboxed
  const { paths, remove } = await privateFolder(new Map([['filter', keyringFilter()]]))
  const folder = dirname(paths.filter!)
  // The control listener is left out, because a program must not approve its own requests.
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

/** Creates missing folders, because a folder that is created later would be visible. */
function hiddenFor({ cache, control, forward }: Config) {
  const folders = [configFolder(), stateFolder(), cacheFolder(), ...(cache.dir === null ? [] : [cache.dir])]
  for (const folder of folders) makePrivateFolder(folder)
  const files = [forward?.caKey, control?.socket, ...fileVariables.map((name) => process.env[name])]
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

/** The descriptor of the filter in the child: it comes after the standard streams and the IPC channel. */
const filterAt = 4

interface Starting {
  env: Record<string, string>
  filter: string
  /** The message that starts the relay. */
  start: { listen: Bridge['listen'][]; file: string; argv: string[] }
}

/** A message from the relay. */
interface Told {
  failed?: string
  ended?: Ending
}

async function untilEnded(bubblewrap: string, args: string[], { env, filter, start }: Starting): Promise<Ending> {
  const opened = openSync(filter, 'r')
  // Detached, because a signal of the terminal would end `bwrap`, and with it the program, which could then not handle
  // it.
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
