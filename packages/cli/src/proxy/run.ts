import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { idPrefixes } from '@skerry/contract/prefixes'
import type { Config } from '@skerry/proxy/config/config'
import type { ProxyDeps, RunningProxy } from '@skerry/proxy/start'
import type { Resolved } from '@skerry/sdk'
import { createPolicySource, type PolicySource } from '@skerry/sdk/internal/policy-source'
import { diskCache } from '@skerry/sdk/node/disk-cache'
import { Failure, toFailure, usage } from '../failure.ts'
import { makePrivateFolder, readIfThere } from '../files.ts'
import { stateFolder } from '../folders.js'
import { mustVerify } from '../known-directories.ts'
import { memoryHere } from '../known-state.ts'
import { note, warn } from '../output.ts'
import { canAsk } from '../prompt.ts'
import { type Ending, endAs, startChild } from '../run/child.ts'
import { findProgram } from '../run/program.ts'
import { resolveTarget } from '../run/target.ts'
import { openSession, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { askOnTerminal } from './approving.ts'
import { type ChildEnvironment, openChildEnvironment } from './child-environment.ts'
import { presetSettings, presetsOf, readSettings } from './settings.ts'

interface Options extends Flags {
  config: string
  preset?: string[]
  listen?: string
  sandbox?: boolean
  task?: boolean
}

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs a proxy until a signal ends it, or until the program behind it ends. */
export async function run(program: string[], flags: Options): Promise<void> {
  const config = withListen(configOf(flags), flags.listen)
  const file = program.length > 0 ? findProgram(program[0]!, process.env.PATH) : undefined
  const task = taskOf(flags, config, file)
  const bubblewrap = await sandboxOf(flags, file)
  const session = await openSession(flags)
  const proxy = await start(config, session, { isAlone: file === undefined, task })
  let ended: Ending = { code: 0, signal: null }
  try {
    tell(proxy)
    if (file === undefined) await untilTold()
    else
      ended = await behind(proxy, async (childEnvironment) => {
        if (bubblewrap === undefined) return startChild(file, program, childEnvironment.env).done
        const { runSandboxed } = await import('./sandbox/run.ts')
        const settings = flags.preset === undefined ? resolve(flags.config) : undefined
        return runSandboxed({ bubblewrap, file, argv: program, proxy, config, settings, childEnvironment })
      })
  } finally {
    await proxy.close()
  }
  process.exitCode = endAs(ended)
}

/** Finds `bwrap` if the program must run in a sandbox. */
async function sandboxOf({ sandbox }: Options, file: string | undefined): Promise<string | undefined> {
  if (!sandbox) return undefined
  if (file === undefined) throw usage('--sandbox needs a program', 'run `skerry proxy run --sandbox -- <program>`')
  const { findBubblewrap } = await import('./sandbox/bubblewrap.ts')
  return findBubblewrap()
}

/** The token of the task that the program runs under. It comes in a variable, because every user can read arguments. */
function taskOf({ task }: Options, { tasks }: Config, file: string | undefined): string | undefined {
  if (!task) return undefined
  if (file === undefined) throw usage('--task needs a program', 'run `skerry proxy run --task -- <program>`')
  if (tasks === null)
    throw usage('--task needs the section [tasks] in skerry-proxy.toml', 'add it, or use `skerry proxy init --agent`')
  const token = process.env.SKERRY_TASK
  if (!token?.startsWith(idPrefixes.taskRef))
    throw usage('--task needs the token of a task in SKERRY_TASK', 'create one with `skerry agent dispatch`')
  return token
}

function configOf({ config: file, preset }: Options): Config {
  if (preset !== undefined) return readSettings(presetSettings(presetsOf(preset)), '--preset', openAuthorityFolder())
  const path = resolve(file)
  const toml = readIfThere(path)
  if (toml === null) throw new Failure('notFound', `there is no ${file}`, 'write one with `skerry proxy init`')
  return withAuthority(readSettings(toml, file, dirname(path)), toml)
}

/**
 * Keeps the certificate authority in the state folder, because a commit of the project could publish its key. Settings
 * that name its files, and an authority that lies beside the settings, stay as they are.
 */
function withAuthority(config: Config, toml: string): Config {
  const { forward } = config
  if (!forward || /^\s*ca_(cert|key)\s*=/m.test(toml) || existsSync(forward.caKey)) return config
  const folder = openAuthorityFolder()
  const caCert = join(folder, basename(forward.caCert))
  return { ...config, forward: { ...forward, caCert, caKey: join(folder, basename(forward.caKey)) } }
}

function openAuthorityFolder(): string {
  const folder = resolve(stateFolder(), 'proxy')
  makePrivateFolder(folder)
  return folder
}

function withListen(config: Config, listen: string | undefined): Config {
  if (listen === undefined) return config
  const [, host = '', port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(listen) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw usage('--listen must be an IP address and a port, such as 127.0.0.1:8080')
  return { ...config, listen: { host, port: Number(port) } }
}

async function start(
  config: Config,
  session: Session,
  { isAlone, task }: { isAlone: boolean; task: string | undefined },
): Promise<RunningProxy> {
  const { startProxy } = await import('@skerry/proxy/start')
  const { enabled, dir, maxAge } = config.cache
  const cache = enabled ? diskCache(dir === null ? {} : { directory: dir }) : undefined
  const options = { with: [], cache, offline: false, maxAgeSeconds: maxAge, overrides: false }
  const { skerry, resolved } = await resolveTarget(session, options)
  if (resolved.stale) warn('the server cannot be reached: the proxy uses the last copy of the secrets')
  const { SKERRY_PROXY_CONTROL_TOKEN, SEEKRIT_PROXY_CONTROL_TOKEN } = process.env
  let running: RunningProxy | undefined
  const settle: Parameters<typeof askOnTerminal>[0] = (id, verdict) => void running?.approvals?.settle(id, verdict)
  const deps: ProxyDeps = {
    resolve: () => skerry.resolve(),
    resolved,
    task,
    client: session.client,
    sources: await sourcesOf(config, session, { resolved, store: cache }),
    controlToken: SKERRY_PROXY_CONTROL_TOKEN || SEEKRIT_PROXY_CONTROL_TOKEN,
    telemetry: await telemetryOf(process.env),
    // A program behind the proxy has the terminal for itself, so nothing is asked there.
    onHeld: isAlone && canAsk() ? askOnTerminal(settle) : undefined,
    warn,
  }
  running = await startProxy(config, deps).catch((error) => {
    throw new Failure(toFailure(error).kind, `the proxy was not started: ${toFailure(error).message}`)
  })
  return running
}

/** Loads telemetry only if it is configured, so that other runs do not wait for it. */
async function telemetryOf(env: NodeJS.ProcessEnv): Promise<ProxyDeps['telemetry']> {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_SDK_DISABLED === 'true') return undefined
  const { openTelemetry } = await import('@skerry/proxy/telemetry/otlp')
  return openTelemetry(env, warn)
}

async function sourcesOf(
  { policy, agents, cache: { maxAge } }: Config,
  session: Session,
  { resolved, store }: { resolved: Resolved; store: ReturnType<typeof diskCache> | undefined },
): Promise<Map<string, PolicySource>> {
  if (policy.source === 'file') return new Map()
  const signers = mustVerify(session)
    ? await (await import('../trust/policy-signers.ts')).presentSigners(session, policy.signers)
    : policy.signers
  const reader = await session.reader()
  const token = 'token' in reader ? reader.token : reader.bearer
  const shared = {
    client: session.client,
    principalId: session.principal.id,
    signers,
    org: policy.org ?? (await orgOf(session, resolved)),
    ceiling: policy.ceiling.length > 0 ? policy.ceiling : undefined,
    acceptRollback: policy.acceptRollback,
    store: memoryHere(),
    warn,
    ...(store ? { cache: { store, token, maxAgeSeconds: maxAge } } : {}),
  }
  return new Map(agents.map((agent) => [agent, createPolicySource({ ...shared, agent })]))
}

/**
 * Returns the organization whose policies the proxy accepts if its settings name none. Another organization may have an
 * agent of the same slug. The known state of this machine refuses a different organization than before.
 */
async function orgOf(session: Session, { scope }: Resolved): Promise<string> {
  // A person may be in several organizations, so the name in the settings decides.
  return session.principal.type === 'user' ? (await session.org()).id : scope.orgId
}

function tell({ reverse, forward, control, certificatePath }: RunningProxy): void {
  if (reverse !== undefined) note(`routes: ${reverse}`)
  if (forward !== undefined) note(`proxy: ${forward}, with certificates of ${certificatePath}`)
  if (control !== undefined) note(`control: ${control}`)
}

async function behind(
  proxy: RunningProxy,
  work: (childEnvironment: ChildEnvironment) => Promise<Ending>,
): Promise<Ending> {
  const childEnvironment = await openChildEnvironment(proxy, process.env)
  try {
    return await work(childEnvironment)
  } finally {
    childEnvironment.remove()
  }
}

async function untilTold(): Promise<void> {
  await new Promise<void>((done) => {
    for (const signal of ending) process.once(signal, () => done())
  })
}
