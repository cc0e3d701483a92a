import { isLoopback } from '@skerry/contract/loopback'
import { usage } from '../failure.ts'
import { checkSelection, type Selection } from '../selection.ts'
import type { Flags } from '../settings.ts'

export interface Options extends Flags, Selection {
  with?: string[]
  socket?: string
  credentials?: string
  port?: string
  host?: string
  tokenFile?: string
  allowHost?: string[]
  tlsCert?: string
  tlsKey?: string
  allowCleartext?: boolean
  maxAge: string
  cache: boolean
}

/**
 * The place where HTTP is answered: a socket (undefined: the one in the own folder), or a port. `hosts` are the names that callers may
 * use for it, besides those of this machine.
 */
export type Place =
  | { socket: string | undefined }
  | { host: string; port: number; hosts: string[]; tls: { cert: string; key: string } | undefined }

const ofPorts = {
  host: '--host',
  tokenFile: '--token-file',
  allowHost: '--allow-host',
  tlsCert: '--tls-cert',
  tlsKey: '--tls-key',
  allowCleartext: '--allow-cleartext',
} as const satisfies Partial<Record<keyof Options, string>>

/** Checks the options before anything is asked. Undefined if only `--credentials` is given. */
export function placeOf(flags: Options): Place | undefined {
  checkSelection(flags)
  if (flags.port !== undefined && flags.socket !== undefined) throw usage('--port and --socket cannot be used together')
  if (flags.port !== undefined) return portOf(flags, flags.port)
  for (const [name, option] of Object.entries(ofPorts))
    if (flags[name as keyof typeof ofPorts] !== undefined) throw usage(`${option} needs --port`)
  return flags.credentials === undefined || flags.socket !== undefined ? { socket: flags.socket } : undefined
}

function portOf(flags: Options, text: string): Place {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw usage('--port must be a whole number from 0 to 65535')
  const { host = '127.0.0.1', allowHost = [], tlsCert: cert, tlsKey: key, allowCleartext } = flags
  if ((cert === undefined) !== (key === undefined)) throw usage('--tls-cert and --tls-key are needed together')
  const tls = cert !== undefined && key !== undefined ? { cert, key } : undefined
  const named = allowHost.map((one) => one.toLowerCase())
  if (isLoopback(host)) return { host, port, hosts: named, tls }
  if (!tls && !allowCleartext)
    throw usage(
      `--host ${host} is on the network, where others could read the secrets`,
      'add --tls-cert and --tls-key, or --allow-cleartext if nobody else is on this network',
    )
  if (named.length === 0)
    throw usage(`--host ${host} needs --allow-host`, 'name the host that callers have in their URL')
  return { host, port, hosts: named, tls }
}
