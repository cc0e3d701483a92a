import { type Config, parseConfig } from '@skerry/proxy/config/config'
import { ConfigError } from '@skerry/proxy/config/read'
import { usage } from '../failure.ts'
import { pageAddress } from '../help/page-address.ts'
import { type PresetName, presetNames, presets } from './presets.ts'

/** Checks that the typed names are presets. */
export function presetsOf(names: readonly string[]): PresetName[] {
  const unknown = names.find((name) => !Object.hasOwn(presets, name))
  if (unknown !== undefined) throw usage(`there is no preset ${unknown}`, `presets: ${presetNames.join(', ')}`)
  return [...new Set(names)] as PresetName[]
}

/** The settings of a proxy that depend on the machine where it runs. */
interface Place {
  /** The address that the proxy listens on. */
  address: string
  /** The policy for hosts that no rule names. */
  unmatched: 'tunnel' | 'deny'
  /** The files of its CA certificate and key; beside the settings file unless given. */
  authority?: { cert: string; key: string }
}

/** The listener on a person's own machine. It tunnels all other hosts, because programs must still reach them. */
const onThisMachine: Place = { address: '127.0.0.1', unmatched: 'tunnel' }

const opening = ({
  address,
}: Place) => `# The settings of \`skerry proxy run\`. ${pageAddress('docs/proxy.md')} describes all of them. This file contains no secret.

listen = "${address}:8080"
`

const forwarding = ({ address, unmatched, authority }: Place) => `
[forward]
listen = "${address}:8081"
${authority ? `ca_cert = "${authority.cert}"\nca_key = "${authority.key}"\n` : ''}\
# Hosts that no rule names: "tunnel" passes them on unread, "deny" refuses them.
unmatched_host_policy = "${unmatched}"
`

/** Values go into headers only. A body is often stored, and an agent could then read the value from it later. */
const inHeader = 'in = ["header"]\n'

/**
 * Each host can be reached in two ways: by a base URL of its own on the proxy, and with the proxy as a forward proxy.
 */
export function presetSettings(names: readonly PresetName[], place = onThisMachine): string {
  const routes = names.map((name) => {
    const { host, secret } = presets[name]
    return `\n[[route]]\nprefix = "/${name}"\nupstream = "https://${host}"\nallow = ["${secret}"]\n${inHeader}`
  })
  const hosts = names.map((name) => {
    const { host, secret } = presets[name]
    return `\n[[forward.host]]\nmatch = "${host}"\nallow = ["${secret}"]\n${inHeader}`
  })
  return [opening(place), ...routes, forwarding(place), ...hosts].join('')
}

/**
 * The rules come from the agent's policy on the server. The proxy accepts only a policy that one of `signers` has
 * signed.
 */
function agentSettings(
  agent: string,
  signers: readonly string[],
  names: readonly PresetName[],
  place = onThisMachine,
): string {
  const routes = names.map((name) => `\n[[route]]\nprefix = "/${name}"\nupstream = "https://${presets[name].host}"\n`)
  const policy = `
[policy]
source = "server"
agent = "${agent}"
# The keys of the admins who may sign the policy. A person who can change this line decides what agents may do.
signers = [${signers.map((one) => `"${one}"`).join(', ')}]
${inHeader}
[tasks]
[activity]
`
  return [opening(place), taskRule, ...routes, forwarding(place), policy].join('')
}

const taskRule = `# A program shows its task in x-skerry-ticket, or is started with \`skerry proxy run --task\`. With false, a program without a
# task may do all that the policy permits.
require_task = true
`

/** The options that say which settings to write. */
export interface Wished {
  preset?: string[]
  agent?: string
  signer?: string[]
}

/** @throws Failure if the options do not say what is allowed. */
export function wishedSettings({ preset = [], agent, signer = [] }: Wished, place = onThisMachine): string {
  const names = presetsOf(preset)
  if (agent !== undefined) {
    if (signer.length === 0)
      throw usage('--agent needs --signer', '`skerry agent policy publish` prints its thumbprint')
    return agentSettings(agent, signer, names, place)
  }
  if (signer.length > 0) throw usage('--signer needs --agent')
  if (names.length === 0) throw usage('no preset and no agent is named', 'use --preset or --agent')
  return presetSettings(names, place)
}

/** @throws Failure that names the file and the place in it. */
export function readSettings(toml: string, file: string, folder: string): Config {
  try {
    return parseConfig(toml, folder)
  } catch (error) {
    if (error instanceof ConfigError) throw usage(`${file}: ${error.message}`)
    throw error
  }
}
