import { type Config, parseConfig } from '@skerry/proxy/config/config'
import { ConfigError } from '@skerry/proxy/config/read'
import { Failure, usage } from '../failure.ts'
import { pageAddress } from '../help/page-address.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'
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
}: Place) => `# The settings of \`skerry proxy run\`. ${pageAddress('docs/proxy-settings.md')} describes them. This file contains no secret.

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

/** The agent whose policy the proxy enforces. */
interface Enforced {
  agent: string
  signers: readonly string[]
  /** Id of its organization. Undefined while only the options are checked. */
  org: string | undefined
}

/**
 * The rules come from the agent's policy on the server. The proxy accepts only a policy that one of `signers` has
 * signed for the agent of this organization.
 */
function agentSettings({ agent, signers, org }: Enforced, names: readonly PresetName[], place: Place): string {
  const routes = names.map((name) => `\n[[route]]\nprefix = "/${name}"\nupstream = "https://${presets[name].host}"\n`)
  const policy = `
[policy]
source = "server"
agent = "${agent}"
${org === undefined ? '' : `# The organization of the agent. Another organization may have an agent of the same slug.\norg = "${org}"\n`}\
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

/** The options that say which settings to write. The shared options find the organization of `agent`. */
export interface Wished extends Flags {
  preset?: string[]
  agent?: string
  signer?: string[]
}

/** The file of the settings for messages, and the folder that its paths begin at. */
interface Target {
  file: string
  folder: string
  place?: Place
}

/**
 * Returns the settings that the options ask for. All options are checked before the organization of an agent is looked
 * up, so that a mistake on the command line costs no request.
 *
 * @throws Failure if the options do not say what is allowed.
 */
export async function wishedSettings(wished: Wished, { file, folder, place = onThisMachine }: Target): Promise<string> {
  const settings = settingsIn(undefined, wished, place)
  readSettings(settings, file, folder)
  if (wished.agent === undefined) return settings
  const { id } = await (await openSession(wished)).org()
  // Any other text from the server could write settings of its own into the file.
  if (!/^\w+$/.test(id)) throw new Failure('failure', 'the server shows an organization whose id is malformed')
  return settingsIn(id, wished, place)
}

function settingsIn(org: string | undefined, { preset = [], agent, signer = [] }: Wished, place: Place): string {
  const names = presetsOf(preset)
  if (agent !== undefined) {
    if (signer.length === 0)
      throw usage('--agent needs --signer', '`skerry agent policy publish` prints its thumbprint')
    return agentSettings({ agent, signers: signer, org }, names, place)
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
